% one.m - asks for the torques that move a Puma 560 as wanted.
addpath(fileparts(mfilename('fullpath')));     % torqued.m lies beside this file
url = getenv('TORQUED_URL');
if isempty(url)
    url = 'http://127.0.0.1:8088';
end
q = [0 0.7853981633974483 3.141592653589793 0 0.7853981633974483 0];     % rad
answer = torqued(url, 'puma560', 'inverse-dynamics', struct('q', q, 'qd', ones(1, 6), 'qdd', ones(1, 6)));
fprintf('%s\n', strjoin(arrayfun(@(tau) sprintf('%.17g', tau), answer.tau, 'UniformOutput', false), ','));     % N m
