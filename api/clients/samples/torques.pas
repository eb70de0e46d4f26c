{ torques.pas - posts one state of a Puma 560 and prints its torques, or the detail of the refusal. }
program torques;
{$mode objfpc}{$H+}
uses SysUtils, Classes, fphttpclient, fpjson, jsonparser;
var
  client: TFPHTTPClient;
  state, answer: TJSONObject;
  reply: TStringStream;
  i: Integer;
begin
  state := TJSONObject.Create(['q', TJSONArray.Create([0, pi / 4, pi, 0, pi / 4, 0]),
    'qd', TJSONArray.Create([1, 1, 1, 1, 1, 1]), 'qdd', TJSONArray.Create([1, 1, 1, 1, 1, 1])]);
  client := TFPHTTPClient.Create(nil);
  reply := TStringStream.Create('');
  client.AddHeader('Content-Type', 'application/json');
  client.RequestBody := TStringStream.Create(state.AsJSON);
  client.HTTPMethod('POST', ParamStr(1), reply, []);     { Post raises an exception that has no body }
  answer := GetJSON(reply.DataString) as TJSONObject;
  if client.ResponseStatusCode <> 200 then
  begin
    WriteLn(StdErr, answer.Get('pointer', ''), ': ', answer.Strings['detail']);
    Halt(1);
  end;
  for i := 0 to 5 do
    Write(Trim(Format('%.17g', [answer.Arrays['tau'].Floats[i]])), Copy(',', 1, Ord(i < 5)));
  WriteLn;
end.
