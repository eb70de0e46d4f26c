// torques.cs - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
using System;
using System.Linq;
using System.Net.Http;
using System.Text;
using System.Text.Json;

double[] one = Enumerable.Repeat(1.0, 6).ToArray();
var state = new { q = new[] { 0, Math.PI / 4, Math.PI, 0, Math.PI / 4, 0 }, qd = one, qdd = one };
using var client = new HttpClient();
var body = new StringContent(JsonSerializer.Serialize(state), Encoding.UTF8, "application/json");
var reply = await client.PostAsync(args[0], body);     // EnsureSuccessStatusCode would throw the body away
using var answer = JsonDocument.Parse(await reply.Content.ReadAsStringAsync());
var root = answer.RootElement;
if (!reply.IsSuccessStatusCode)
{
    var pointer = root.TryGetProperty("pointer", out var found) ? found.GetString() : "";
    Console.Error.WriteLine($"{pointer}: {root.GetProperty("detail").GetString()}");
    return 1;
}
Console.WriteLine(string.Join(",", root.GetProperty("tau").EnumerateArray().Select(x => x.GetRawText())));
return 0;
