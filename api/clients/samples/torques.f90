! torques.f90 - posts one state of a Puma 560 by the program curl and prints its torques, or the detail of the refusal.
program torques
    use, intrinsic :: iso_fortran_env, only: real64, error_unit
    implicit none
    real(real64), parameter :: pi = acos(-1._real64)
    real(real64) :: tau(6)
    character(1000) :: url, body, answer, code
    integer :: unit, status, from

    call get_command_argument(1, url)
    ! es24.16 writes 17 digits. A format of d writes exponents that are no JSON.
    write (body, '(*(es24.16, :, ","))') [0._real64, pi / 4, pi, 0._real64, pi / 4, 0._real64]
    body = '{"q":[' // trim(body) // '],"qd":[1,1,1,1,1,1],"qdd":[1,1,1,1,1,1]}'
    open (newunit=unit, file='request.json', action='write')
    write (unit, '(a)') trim(body)
    close (unit)
    ! curl keeps the body of a refusal unless it is told --fail
    call execute_command_line("curl -s -H 'Content-Type: application/json' --data-binary @request.json " // &
                              "-w '\n%{http_code}\n' '" // trim(url) // "' >answer.json", exitstat=status)
    if (status /= 0) error stop 'curl failed'
    open (newunit=unit, file='answer.json', action='read')
    read (unit, '(a)') answer, code
    if (code /= '200') then
        write (error_unit, '(a)') trim(answer)
        stop 1
    end if
    from = index(answer, '[') + 1
    read (answer(from:index(answer, ']') - 1), *) tau
    write (*, '(*(es24.16, :, ","))') tau
end program
