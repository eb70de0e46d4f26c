# torques.tcl - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
package require http
package require json

set turn [expr {atan(1)}]
set half [expr {4 * $turn}]
set body "{\"q\":\[0,$turn,$half,0,$turn,0\],\"qd\":\[1,1,1,1,1,1\],\"qdd\":\[1,1,1,1,1,1\]}"
set reply [http::geturl [lindex $argv 0] -type application/json -query $body]
if {[http::status $reply] ne "ok"} {
    error [http::error $reply]
}
set answer [json::json2dict [http::data $reply]]     ;# also holds the body of a refusal
if {[http::ncode $reply] != 200} {
    set pointer [expr {[dict exists $answer pointer] ? [dict get $answer pointer] : ""}]
    puts stderr "$pointer: [dict get $answer detail]"
    exit 1
}
puts [join [dict get $answer tau] ,]
