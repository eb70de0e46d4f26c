%% torques.erl - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
main([Url]) ->
    {ok, _} = application:ensure_all_started(inets),
    Pi = math:pi(),
    One = lists:duplicate(6, 1),
    Body = jiffy:encode(#{q => [0, Pi / 4, Pi, 0, Pi / 4, 0], qd => One, qdd => One}),
    {ok, {{_, Status, _}, _, Text}} = httpc:request(post, {Url, [], "application/json", Body}, [], [{body_format, binary}]),
    Answer = jiffy:decode(Text, [return_maps]),
    case Status of
        200 ->
            io:format("~s~n", [lists:join(",", [io_lib:format("~w", [X]) || X <- maps:get(<<"tau">>, Answer)])]);
        _ ->
            io:format(standard_error, "~s: ~s~n", [maps:get(<<"pointer">>, Answer, <<>>), maps:get(<<"detail">>, Answer)]),
            halt(1)
    end.
