(* torques.ml - posts one state of a Puma 560 and prints its torques, or the detail of the refusal. *)
let numbers list = `List (List.map (fun x -> `Float x) list)

let () =
  let turn = atan 1. and one = numbers (List.init 6 (fun _ -> 1.)) in
  let state = `Assoc ["q", numbers [0.; turn; 4. *. turn; 0.; turn; 0.]; "qd", one; "qdd", one] in
  let text = Buffer.create 1000 and curl = Curl.init () in
  Curl.set_url curl Sys.argv.(1);
  Curl.set_httpheader curl ["Content-Type: application/json"];
  Curl.set_postfields curl (Yojson.Safe.to_string state);
  Curl.set_writefunction curl (fun part -> Buffer.add_string text part; String.length part);
  Curl.perform curl;
  let open Yojson.Safe.Util in
  let answer = Yojson.Safe.from_string (Buffer.contents text) in
  if Curl.get_responsecode curl = 200 then
    (* string_of_float and %g show 12 and 6 digits *)
    let tau = List.map (fun x -> Printf.sprintf "%.17g" (to_number x)) (to_list (member "tau" answer)) in
    print_endline (String.concat "," tau)
  else begin
    let pointer = Option.value (to_string_option (member "pointer" answer)) ~default:"" in
    prerr_endline (pointer ^ ": " ^ to_string (member "detail" answer));
    exit 1
  end
