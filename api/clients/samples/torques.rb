# torques.rb - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
require "json"
require "net/http"

state = {q: [0, Math::PI / 4, Math::PI, 0, Math::PI / 4, 0], qd: [1] * 6, qdd: [1] * 6}
reply = Net::HTTP.post(URI(ARGV[0]), JSON.generate(state), "Content-Type" => "application/json")
answer = JSON.parse(reply.body)
abort "#{answer["pointer"]}: #{answer["detail"]}" unless reply.is_a?(Net::HTTPOK)
puts answer["tau"].join(",")
