<?php
// torques.php - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
$state = ["q" => [0, M_PI / 4, M_PI, 0, M_PI / 4, 0], "qd" => array_fill(0, 6, 1), "qdd" => array_fill(0, 6, 1)];
ini_set("serialize_precision", -1);     // all digits: the default of PHP, which an old php.ini may lower to 14 or 17
$text = file_get_contents($argv[1], false, stream_context_create(["http" => [
    "method" => "POST",
    "header" => "Content-Type: application/json",
    "content" => json_encode($state),
    "ignore_errors" => true,            // without this a refusal is false and its body is lost
]]));
if ($text === false) {
    exit(1);
}
$answer = json_decode($text, true);
if (!str_contains($http_response_header[0], " 200 ")) {
    fwrite(STDERR, ($answer["pointer"] ?? "") . ": $answer[detail]\n");
    exit(1);
}
echo trim(json_encode($answer["tau"]), "[]"), "\n";     // echo of a number shows 14 digits
