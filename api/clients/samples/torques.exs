# torques.exs - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
{:ok, _} = Application.ensure_all_started(:inets)
[url] = System.argv()
turn = :math.pi() / 4
one = List.duplicate(1, 6)
body = :jiffy.encode(%{q: [0, turn, 4 * turn, 0, turn, 0], qd: one, qdd: one})
request = {String.to_charlist(url), [], 'application/json', body}
{:ok, {{_, status, _}, _, text}} = :httpc.request(:post, request, [], body_format: :binary)
answer = :jiffy.decode(text, [:return_maps])

if status == 200 do
  IO.puts(Enum.join(answer["tau"], ","))
else
  IO.puts(:stderr, "#{answer["pointer"]}: #{answer["detail"]}")
  System.halt(1)
end
