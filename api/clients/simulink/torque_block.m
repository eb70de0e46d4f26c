function tau = torque_block(u, model)
% TORQUE_BLOCK  Torques of a robot in a block "Interpreted MATLAB Function" of Simulink: torque_block(u, 'puma560')
%   u       [q; qd; qdd], a vector of 3 n numbers (rad, rad/s, rad/s^2; m for prismatic joints); a Mux makes it
%   tau     n torques (N m; N for prismatic joints): enter n as the block's output dimensions
%   The address of the server is in the environment variable TORQUED_URL; torqued.m of api/clients/octave must be on the path.
    url = getenv('TORQUED_URL');
    if isempty(url)
        url = 'http://127.0.0.1:8088';
    end
    state = reshape(u, [], 3).';     % a row each for q, qd, qdd
    answer = torqued(url, model, 'inverse-dynamics', ...
                     struct('q', {{state(1, :)}}, 'qd', state(2, :), 'qdd', state(3, :)));
    tau = answer.tau(:);
end
