function answer = torqued(url, model, operation, request)
% TORQUED  Ask a torqued server, from MATLAB or Octave.
%   answer = torqued('http://127.0.0.1:8088', 'puma560', 'inverse-dynamics', struct('q', [0 0.5 3 0 0.5 0]))
%
%   request   struct (or containers.Map, where a name is no MATLAB name) of the operation's fields. A row vector is one state, a
%             matrix a batch with one state a row; a batch of one row is {row}. Text, logicals, structs and cells (lists) as they
%             are: struct('q', q, 'outputs', {{'tau', 'joint_wrenches'}}).
%   answer    struct of the outputs: vectors are rows, batches matrices with one state a row; a batch of matrices has the state
%             as its first dimension. Characters that MATLAB forbids in names become "_": answer.mass_matrix of "mass-matrix".
%
%   A refused request is an error 'torqued:CODE' whose message names field and reason. Doubles cross as their eight bytes (CBOR
%   typed arrays), so no bit is lost. The program curl makes the connection: MATLAB's webwrite reports no reasons, Octave's sends
%   forms only. A bearer token is taken from the environment variable TORQUED_TOKEN, other options of curl from ~/.curlrc.
    files = {[tempname '.cbor'], [tempname '.cbor'], [tempname '.curl']};
    cleaner = onCleanup(@() cellfun(@remove, files));
    write(files{1}, encode(request));
    lines = {sprintf('url = "%s/v1/models/%s/%s"', url, model, operation), ...
             sprintf('data-binary = "@%s"', strrep(files{1}, '\', '/')), sprintf('output = "%s"', strrep(files{2}, '\', '/')), ...
             'header = "Content-Type: application/cbor"', 'header = "Accept: application/cbor; arrays=multidimensional"', 'header = "Expect:"', ...
             'noproxy = "*"', 'silent', 'show-error', 'write-out = "%{http_code}"'};
    if ~isempty(getenv('TORQUED_TOKEN'))     % in a file: other users can read the arguments of a process
        lines{end + 1} = sprintf('header = "Authorization: Bearer %s"', getenv('TORQUED_TOKEN'));
    end
    write(files{3}, uint8([strjoin(lines, char(10)) char(10)]));
    program = 'curl';
    if isunix
        program = 'env -u LD_LIBRARY_PATH curl';     % MATLAB's own libcurl is not the one of the program
    end
    [failed, output] = system(sprintf('%s -K "%s" 2>&1', program, files{3}));
    if failed
        error('torqued:unreachable', '%s', strtrim(output));
    end
    bytes = read(files{2});
    if strcmp(output(max(1, end - 2):end), '200')
        answer = decode(bytes, 1);
        return
    end
    try
        problem = jsondecode(char(bytes));
        problem.detail;
    catch
        problem = struct('code', 'no-problem', 'detail', ['HTTP status ' output]);
    end
    if isfield(problem, 'pointer')
        problem.detail = [problem.pointer ': ' problem.detail];
    end
    error(['torqued:' strrep(problem.code, '-', '_')], '%s', problem.detail);
end

function remove(file)
    if exist(file, 'file')
        delete(file);
    end
end

function write(name, bytes)
    file = fopen(name, 'w');
    if file < 0
        error('torqued:file', 'cannot write %s', name);
    end
    fwrite(file, bytes, 'uint8');
    fclose(file);
    if isunix
        system(sprintf('chmod 600 "%s"', name));
    end
end

function bytes = read(name)
    bytes = uint8([]);
    file = fopen(name, 'r');
    if file >= 0
        bytes = fread(file, Inf, '*uint8').';
        fclose(file);
    end
end

function bytes = head(major, value)
    if value < 24
        bytes = uint8(32 * major + value);
    else
        bytes = [uint8(32 * major + 26) fliplr(typecast(uint32(value), 'uint8'))];
    end
end

function bytes = encode(value)
    if ischar(value)
        text = unicode2native(value, 'UTF-8');
        bytes = [head(3, numel(text)) reshape(uint8(text), 1, [])];
    elseif islogical(value) && isscalar(value)
        bytes = uint8(244 + value);
    elseif isnumeric(value) && isscalar(value) && value == fix(value) && value >= 0 && value < 2^32
        bytes = head(0, double(value));
    elseif isnumeric(value) && isscalar(value)
        bytes = [uint8(251) fliplr(typecast(double(value), 'uint8'))];
    elseif isnumeric(value)
        numbers = reshape(double(value).', 1, []);     % row by row
        bytes = [head(6, 86) head(2, 8 * numel(numbers)) typecast(numbers, 'uint8')];     % tag 86: little-endian doubles
        if size(value, 1) > 1
            bytes = [head(6, 40) head(4, 2) head(4, 2) head(0, size(value, 1)) head(0, size(value, 2)) bytes];     % tag 40: shape
        end
    elseif iscell(value)
        parts = cellfun(@encode, reshape(value, 1, []), 'UniformOutput', false);
        bytes = [head(4, numel(value)) parts{:}];
    elseif isstruct(value) && isscalar(value)
        bytes = members(fieldnames(value), struct2cell(value));
    elseif isa(value, 'containers.Map')
        bytes = members(keys(value), values(value));
    else
        error('torqued:request', 'a %s of size %s is no part of a request', class(value), mat2str(size(value)));
    end
end

function bytes = members(names, items)
    bytes = head(5, numel(names));
    for i = 1:numel(names)
        bytes = [bytes encode(names{i}) encode(items{i})]; %#ok<AGROW>
    end
end

function [value, at] = decode(bytes, at)
% Decodes what a server sends: lengths are stated, numbers are integers or 64-bit floats.
    major = floor(double(bytes(at)) / 32);
    low = mod(double(bytes(at)), 32);
    at = at + 1;
    size = low;
    if low >= 24
        raw = bytes(at:at + 2^(low - 24) - 1);
        at = at + numel(raw);
        size = sum(double(raw) .* 256 .^ (numel(raw) - 1:-1:0));
    end
    switch major
        case 0
            value = size;
        case 1
            value = -1 - size;
        case 2
            value = typecast(bytes(at:at + size - 1), 'double');     % inside of tag 86
            at = at + size;
        case 3
            value = native2unicode(bytes(at:at + size - 1), 'UTF-8');
            at = at + size;
        case 4
            value = cell(1, size);
            for i = 1:size
                [value{i}, at] = decode(bytes, at);
            end
        case 5
            value = struct();
            for i = 1:size
                [name, at] = decode(bytes, at);
                [item, at] = decode(bytes, at);
                value.(matlab.lang.makeValidName(name)) = item;
            end
        case 6
            [value, at] = decode(bytes, at);
            if size == 40
                shape = [value{1}{:}];
                value = permute(reshape(value{2}, fliplr(shape)), numel(shape):-1:1);
            end
        otherwise
            if low == 27
                value = typecast(fliplr(raw), 'double');
            elseif low == 20 || low == 21
                value = low == 21;
            else
                value = [];
            end
    end
end
