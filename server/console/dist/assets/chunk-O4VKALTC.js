import{a as y,b as k,c as O,e as T,g as $,h as P,o as _,q as j,r as A,s as x,t as N,v as L}from"./chunk-LT5V5K7M.js";import{g as c,i as q,p as b}from"./chunk-FGJDHSLG.js";import{h as g,m as E,n as U,o as C,p as S,q as J}from"./chunk-BLDQK5KS.js";var F=2e4,M=r=>new Array(r).fill(0);function V(r){return{q:A(r),qd:M(r.nv),qdd:M(r.nv),gravity:[...r.gravity],friction:!0,payload:null,wrenches:[]}}function H(r,e,t=!1){let n=o=>t||o.some(i=>i!==0);return{q:e.q.map(b),...n(e.qd)&&{qd:e.qd.map(b)},...n(e.qdd)&&{qdd:e.qdd.map(b)},...W(r,e)}}function W(r,e){return{...e.gravity.some((t,n)=>t!==r.gravity[n])&&{gravity:e.gravity},...e.payload&&e.payload.mass>0&&{payload:e.payload},...e.wrenches.length&&{wrenches:e.wrenches},...!e.friction&&{friction:!1}}}var I=(r,e)=>JSON.stringify(r)===JSON.stringify(e),z=class r{constructor(e,t,n={}){this.model=e;this.document=t;this.rows=j(e),this.geometry=E(e,t);let o=V(e),i=(s,d)=>s?.length===d&&s.every(Number.isFinite);this.settled={...o,...n,q:i(n.q,e.nq)?n.q:o.q,qd:i(n.qd,e.nv)?n.qd:o.qd,qdd:i(n.qdd,e.nv)?n.qdd:o.qdd},this.state=new c(this.settled),this.stop=O.subscribe(s=>s.state==="ok"&&this.refresh())}rows;geometry;state;result=new c(null);problem=new c(null);gone=new c(!1);replaced=new c(!1);undoable=new c({undo:!1,redo:!1});selected=new c("");marked=new c(new Set);recording=new c(null);recorded=new c(null);past=[];future=[];settled;settling=0;held=!1;busy=!1;stale=!1;closed=!1;wanted={};stop;static async open(e,t={}){let[n,o]=await Promise.all([$(e),P(e)]);return new r(n,o,t)}close(){this.closed=!0,window.clearTimeout(this.settling),this.stop()}change(e){this.state.update(e),window.clearTimeout(this.settling),this.held||(this.settling=window.setTimeout(()=>this.settle(),500)),this.refresh()}hold(e){e&&!this.held&&this.settle(),this.held=e,e||this.change({})}settle(){window.clearTimeout(this.settling),!I(this.settled,this.state.value)&&(this.past.push(this.settled),this.past.length>200&&this.past.shift(),this.future=[],this.settled=this.state.value,this.noteUndo())}noteUndo(){this.undoable.set({undo:this.past.length>0,redo:this.future.length>0})}undo(){this.settle(),this.step(this.past,this.future)}redo(){this.settle(),this.step(this.future,this.past)}step(e,t){let n=e.pop();n&&(t.push(this.settled),this.settled=n,this.state.set(n),this.noteUndo(),this.refresh())}record(){let e=performance.now(),t={times:[0],q:[this.state.value.q]};this.recording.set(t);let n=this.state.subscribe(({q:o})=>{let i=(performance.now()-e)/1e3;if(this.recording.value!==t||t.times.length>=F)return n();o===t.q[t.q.length-1]||i-t.times[t.times.length-1]<.005||(t.times.push(i),t.q.push(o))})}stopRecording(){let e=this.recording.value;return this.recording.set(null),!e||e.q.length<2?!1:(this.recorded.set(e),!0)}mark(e,t){let n=this.rows.filter(s=>s.joint===e).map(s=>s.index),o=new Set(t?this.marked.value:[]),i=t&&n.some(s=>o.has(s));for(let s of n)i?o.delete(s):o.add(s);this.marked.set(o)}nudge(e,t){let n=new Set(e);this.change({q:this.rows.filter(o=>n.has(o.index)).reduce((o,i)=>{let[s,d]=L(i,"q");return N(i,o,Math.max(s,Math.min(d,b(x(i,o)+t*(d-s)))))},this.state.value.q)})}want(e){this.wanted=e,this.refresh()}refresh(){if(!(this.closed||this.gone.value)){if(this.busy){this.stale=!0;return}this.send()}}async send(){this.busy=!0,this.stale=!1;let e=this.state.value;try{let[t,n]=await _(this.model.name,"evaluate",{...H(this.model,e,!0),on_error:"row",operations:{"inverse-dynamics":{outputs:["tau","joint_wrenches"]},kinematics:{},...this.wanted}});this.closed||this.take(e,t,n)}catch(t){this.closed||this.fail(t)}this.busy=!1,this.stale&&this.refresh()}take(e,t,n){let o=t,i=t.errors??[],s=this.result.value,d=o["inverse-dynamics"]?.tau,l=o.kinematics?.poses,a=l&&Object.values(l)[0]?.position?U(this.geometry,l):s?.poses;if(this.problem.set(null),!a)return this.problem.set(new y(200,{detail:i[0]?.detail??"This state cannot be evaluated.",code:i[0]?.code}));let u=o["inverse-dynamics"]?.joint_wrenches;this.result.set({state:e,tau:d??[],poses:a,operations:o,errors:i,took:n,reactions:u?this.reactionsOf(u,a):[]})}fail(e){e instanceof y&&e.body.code==="no-such-model"?this.gone.set(!0):e instanceof y?this.problem.set(e):e instanceof k||this.problem.set(new y(0,{detail:String(e)}))}reactionsOf(e,t){let{bodies:n,origins:o}=this.geometry;return n.map((i,s)=>{let d=S(t,i),l=e[s];return{point:C(t,o[s]),force:g(d,[l[0],l[1],l[2]]),torque:g(d,[l[3],l[4],l[5]])}})}externalWrenches(e){return this.state.value.wrenches.flatMap(t=>{let n=this.geometry.index.get(t.link);if(n===void 0)return[];let o=S(e,n),i=t.frame==="link";return[{point:J(e,n,t.point),force:i?g(o,t.force):t.force,torque:i?g(o,t.torque):t.torque}]})}link(){let{model:e,state:{value:t}}=this,n=new URLSearchParams,o=i=>i.map(s=>String(Number(s.toPrecision(7)))).join(",");return n.set("q",o(t.q)),t.qd.some(Boolean)&&n.set("qd",o(t.qd)),t.qdd.some(Boolean)&&n.set("qdd",o(t.qdd)),t.gravity.some((i,s)=>i!==e.gravity[s])&&n.set("g",o(t.gravity)),t.friction||n.set("friction","no"),t.payload&&n.set("payload",JSON.stringify(t.payload)),t.wrenches.length&&n.set("wrenches",JSON.stringify(t.wrenches)),n.toString().replaceAll("%2C",",")}};function ie(r){let e=a=>{let p=r.get(a)?.split(",").map(Number);return p?.every(Number.isFinite)?p:void 0},t=(a,u)=>{try{let p=JSON.parse(r.get(a)??"null");return p&&u(p)?p:void 0}catch{return}},n=a=>Array.isArray(a)&&a.length===3&&a.every(Number.isFinite),o=e("q"),i=e("qd"),s=e("qdd"),d=e("g"),l=t("payload",a=>typeof a.link=="string"&&a.mass>=0&&n(a.com)),v=t("wrenches",a=>Array.isArray(a)&&a.every(u=>typeof u.link=="string"&&n(u.force)&&n(u.torque)&&n(u.point)&&(u.frame==="world"||u.frame==="link")));return{...o&&{q:o},...i&&{qd:i},...s&&{qdd:s},...d?.length===3&&{gravity:d},...r.get("friction")==="no"&&{friction:!1},...l&&{payload:l},...v&&{wrenches:v}}}var ue=new c(null),he=[["curl","curl"],["python","Python"],["javascript","JavaScript"],["c","C"],["matlab","MATLAB"]],f="TORQUED_TOKEN",h=(r,e)=>q.value.token?r:e,m=r=>new URL(`${T(r.model)}/${r.operation}`,document.baseURI).href;function w(r,e){return`{
${Object.entries(r).map(([n,o])=>`${e}  ${JSON.stringify(n)}: ${JSON.stringify(o)}`).join(`,
`)}
${e}}`}function D(r){let e=w(r.body,"").replaceAll("'","'\\''"),t=h(`  -H "Authorization: Bearer $${f}" \\
`,"");return`curl -s '${m(r)}' \\
  -H 'Content-Type: application/json' \\
${t}  -d '${e}'
`}function R(r){return r===null?"None":r===!0?"True":r===!1?"False":Array.isArray(r)?`[${r.map(R).join(", ")}]`:typeof r=="object"?`{${Object.entries(r).map(([e,t])=>`${JSON.stringify(e)}: ${R(t)}`).join(", ")}}`:JSON.stringify(r)}function G(r){let e=Object.entries(r.body).map(([n,o])=>`    ${JSON.stringify(n)}: ${R(o)},`).join(`
`),t=h(`, "Authorization": "Bearer " + os.environ["${f}"]`,"");return`import json
${h(`import os
`,"")}import urllib.error
import urllib.request

request = {
${e}
}
call = urllib.request.Request(
    ${JSON.stringify(m(r))},
    data=json.dumps(request).encode(), headers={"Content-Type": "application/json"${t}})
try:
    with urllib.request.urlopen(call) as answer:
        print(json.dumps(json.load(answer)))
except urllib.error.HTTPError as problem:
    raise SystemExit(problem.read().decode())
`}function K(r){return`const request = ${w(r.body,"")};

fetch(${JSON.stringify(m(r))}, {
  method: 'POST',
  headers: {'Content-Type': 'application/json'${h(`, Authorization: \`Bearer \${process.env.${f}}\``,"")}},
  body: JSON.stringify(request),
}).then(answer => answer.json()).then(answer => console.log(JSON.stringify(answer)));
`}function B(r){let e=new TextEncoder;return r.split(`
`).map((t,n,o)=>`    "${[...e.encode(t)].map(s=>s===34?'\\"':s===92?"\\\\":s===63?"\\?":s<32||s>126?`\\${s.toString(8).padStart(3,"0")}`:String.fromCharCode(s)).join("")}${n<o.length-1?"\\n":""}"`).join(`
`)}function Q(r){let e=new URL(m(r)),t=w(r.body,""),n=e.port||"80";return e.protocol==="https:"?X(r,t):`/* cc -o ask ask.c && ./ask */
#define _POSIX_C_SOURCE 200809L
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char body[] =
${B(t)};

int main(void)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo("${e.hostname.replace(/^\[|\]$/g,"")}", "${n}", &hints, &found)) return 1;
    int server = socket(found->ai_family, found->ai_socktype, 0);
    if (server < 0 || connect(server, found->ai_addr, found->ai_addrlen)) { perror("connect"); return 1; }
    FILE *out = fdopen(dup(server), "w"), *in = fdopen(server, "r");
    fprintf(out, "POST ${e.pathname.replaceAll("%","%%")} HTTP/1.0\\r\\nHost: ${e.host}\\r\\n"
                 "${h("Authorization: Bearer %s\\r\\n","")}Content-Type: application/json\\r\\nContent-Length: %zu\\r\\n\\r\\n%s", ${h(`getenv("${f}"), `,"")}strlen(body), body);
    fflush(out);
    char line[65536];
    while (fgets(line, sizeof line, in) && strcmp(line, "\\r\\n") != 0) { }
    for (size_t n; (n = fread(line, 1, sizeof line, in)) > 0; ) fwrite(line, 1, n, stdout);
    putchar('\\n');
    return 0;
}
`}function X(r,e){return`/* cc -o ask ask.c -lcurl && ./ask */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static const char body[] =
${B(e)};

int main(void)
{
    CURL              *call    = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
${h(`    char               token[1024];
    snprintf(token, sizeof token, "Authorization: Bearer %s", getenv("${f}"));
    curl_slist_append(headers, token);
`,"")}    curl_easy_setopt(call, CURLOPT_URL, ${JSON.stringify(m(r))});
    curl_easy_setopt(call, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(call, CURLOPT_POSTFIELDS, body);
    return curl_easy_perform(call) == CURLE_OK ? 0 : 1;
}
`}function Y(r){let e=n=>`'${n.replaceAll("'","''")}'`;return`% The body is sent as text, so that one-element lists stay lists.
body = [ ...
    ${w(r.body,"").split(`
`).map(e).join(`, ...
    `)}];
options = weboptions('MediaType', 'application/json', 'Timeout', 60${h(`, 'HeaderFields', {'Authorization', ['Bearer ' getenv('${f}')]}`,"")});
answer = webwrite(${e(m(r))}, body, options)
`}function pe(r,e){return({curl:D,python:G,javascript:K,c:Q,matlab:Y}[e]??D)(r)}var Z={curl:"sh",python:"py",javascript:"mjs",c:"c",matlab:"m"},fe=r=>Z[r]??"txt";export{V as a,H as b,W as c,z as d,ie as e,ue as f,he as g,pe as h,fe as i};
