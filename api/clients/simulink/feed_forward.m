function signal = feed_forward(time, q, qd, qdd, model)
% FEED_FORWARD  Torques along a whole motion, for a block "From Workspace" of Simulink, in one request.
%   time         n x 1, s, of the samples
%   q, qd, qdd   n rows, one sample each (rad, rad/s, rad/s^2; m for prismatic joints)
%   signal       structure with time: enter the variable's name as the block's data
    url = getenv('TORQUED_URL');
    if isempty(url)
        url = 'http://127.0.0.1:8088';
    end
    answer = torqued(url, model, 'inverse-dynamics', struct('q', q, 'qd', qd, 'qdd', qdd));
    signal.time = time(:);
    signal.signals.values = answer.tau;     % N m; N for prismatic joints
    signal.signals.dimensions = size(answer.tau, 2);
end
