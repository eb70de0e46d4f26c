// torques.d - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
import std.algorithm, std.array, std.conv, std.format, std.json, std.math, std.net.curl, std.stdio;

int main(string[] arguments)
{
    double[] one = [1, 1, 1, 1, 1, 1], q = [0, PI / 4, PI, 0, PI / 4, 0];     // PI is a real: the array rounds it
    auto state = JSONValue(["q": q, "qd": one, "qdd": one]);
    string text;
    auto http = HTTP(arguments[1]);     // the functions post and get throw the body of a refusal away
    http.setPostData(state.toString, "application/json");
    http.onReceive = (ubyte[] part) { text ~= cast(string) part; return part.length; };
    http.perform();
    auto answer = text.parseJSON;
    if (http.statusLine.code != 200)
    {
        stderr.writeln("pointer" in answer ? answer["pointer"].str : "", ": ", answer["detail"].str);
        return 1;
    }
    writeln(answer["tau"].array.map!(x => format("%.17g", x.get!double)).join(","));     // writeln shows 6 digits
    return 0;
}
