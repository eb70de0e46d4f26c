#lang racket/base
;; torques.rkt - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
(require json net/url racket/math racket/string)

(define url (string->url (vector-ref (current-command-line-arguments) 0)))
(define one (build-list 6 (lambda (i) 1.0)))
(define state (hasheq 'q (list 0.0 (/ pi 4) pi 0.0 (/ pi 4) 0.0) 'qd one 'qdd one))     ; exact fractions are no JSON
(define-values (status head port)
  (http-sendrecv/url url #:method "POST" #:headers '("Content-Type: application/json") #:data (jsexpr->bytes state)))
(define answer (read-json port))     ; also of a refusal
(cond
  [(regexp-match? #rx" 200 " status) (displayln (string-join (map number->string (hash-ref answer 'tau)) ","))]
  [else (eprintf "~a: ~a\n" (hash-ref answer 'pointer "") (hash-ref answer 'detail))
        (exit 1)])
