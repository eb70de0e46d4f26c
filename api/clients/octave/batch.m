% batch.m - plots the torques of a Panda along a motion of 10 000 states, and prints them as CSV.
addpath(fileparts(mfilename('fullpath')));     % torqued.m lies beside this file
url = getenv('TORQUED_URL');
if isempty(url)
    url = 'http://127.0.0.1:8088';
end
from = [0 -0.5 0 -2 0 1.5 0.5];     % rad
way = [1 0.5 -0.5 -1 0.5 2 -0.5] - from;
s = (0:9999).' / 9999;              % from rest to rest in 2 s, the jerk as small as possible
q = from + way .* (s .* s .* s .* (10 + s .* (6 * s - 15)));
qd = way .* (30 * s .* s .* (1 - s) .* (1 - s) / 2);
qdd = way .* (60 * s .* (1 - s) .* (1 - 2 * s) / 4);
answer = torqued(url, 'panda', 'inverse-dynamics', struct('q', q, 'qd', qd, 'qdd', qdd));

fprintf('t,tau1,tau2,tau3,tau4,tau5,tau6,tau7\n');
fprintf([repmat('%.17g,', 1, 7) '%.17g\n'], [s * 2, answer.tau].');
if ~isempty(getenv('TORQUED_PLOT'))
    plot(s * 2, answer.tau);
    xlabel('time in s');
    ylabel('torque in N m');
    legend('1', '2', '3', '4', '5', '6', '7');
    print(getenv('TORQUED_PLOT'));
end
