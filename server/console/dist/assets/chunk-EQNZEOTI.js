import{a as y,b as k,c as O,e as $,g as T,h as P,m as j,o as _,p as x,q as A,r as N,t as L}from"./chunk-W6IGMFVJ.js";import{g as c,i as q,p as b}from"./chunk-3HEG4E6D.js";import{h as g,m as U,n as C,o as E,p as S,q as J}from"./chunk-BLDQK5KS.js";var D=n=>new Array(n).fill(0);function B(n){return{q:x(n),qd:D(n.nv),qdd:D(n.nv),gravity:[...n.gravity],friction:!0,payload:null,wrenches:[]}}function W(n,e,t=!1){let o=r=>t||r.some(i=>i!==0);return{q:e.q.map(b),...o(e.qd)&&{qd:e.qd.map(b)},...o(e.qdd)&&{qdd:e.qdd.map(b)},...F(n,e)}}function F(n,e){return{...e.gravity.some((t,o)=>t!==n.gravity[o])&&{gravity:e.gravity},...e.payload&&e.payload.mass>0&&{payload:e.payload},...e.wrenches.length&&{wrenches:e.wrenches},...!e.friction&&{friction:!1}}}var H=(n,e)=>JSON.stringify(n)===JSON.stringify(e),z=class n{constructor(e,t,o={}){this.model=e;this.document=t;this.rows=_(e),this.geometry=U(e,t);let r=B(e),i=(s,d)=>s?.length===d&&s.every(Number.isFinite);this.settled={...r,...o,q:i(o.q,e.nq)?o.q:r.q,qd:i(o.qd,e.nv)?o.qd:r.qd,qdd:i(o.qdd,e.nv)?o.qdd:r.qdd},this.state=new c(this.settled),this.stop=O.subscribe(s=>s.state==="ok"&&this.refresh())}rows;geometry;state;result=new c(null);problem=new c(null);gone=new c(!1);replaced=new c(!1);undoable=new c({undo:!1,redo:!1});selected=new c("");marked=new c(new Set);past=[];future=[];settled;settling=0;held=!1;busy=!1;stale=!1;closed=!1;wanted={};stop;static async open(e,t={}){let[o,r]=await Promise.all([T(e),P(e)]);return new n(o,r,t)}close(){this.closed=!0,window.clearTimeout(this.settling),this.stop()}change(e){this.state.update(e),window.clearTimeout(this.settling),this.held||(this.settling=window.setTimeout(()=>this.settle(),500)),this.refresh()}hold(e){e&&!this.held&&this.settle(),this.held=e,e||this.change({})}settle(){window.clearTimeout(this.settling),!H(this.settled,this.state.value)&&(this.past.push(this.settled),this.past.length>200&&this.past.shift(),this.future=[],this.settled=this.state.value,this.noteUndo())}noteUndo(){this.undoable.set({undo:this.past.length>0,redo:this.future.length>0})}undo(){this.settle(),this.step(this.past,this.future)}redo(){this.settle(),this.step(this.future,this.past)}step(e,t){let o=e.pop();o&&(t.push(this.settled),this.settled=o,this.state.set(o),this.noteUndo(),this.refresh())}mark(e,t){let o=this.rows.filter(s=>s.joint===e).map(s=>s.index),r=new Set(t?this.marked.value:[]),i=t&&o.some(s=>r.has(s));for(let s of o)i?r.delete(s):r.add(s);this.marked.set(r)}nudge(e,t){let o=new Set(e);this.change({q:this.rows.filter(r=>o.has(r.index)).reduce((r,i)=>{let[s,d]=L(i,"q");return N(i,r,Math.max(s,Math.min(d,b(A(i,r)+t*(d-s)))))},this.state.value.q)})}want(e){this.wanted=e,this.refresh()}refresh(){if(!(this.closed||this.gone.value)){if(this.busy){this.stale=!0;return}this.send()}}async send(){this.busy=!0,this.stale=!1;let e=this.state.value;try{let[t,o]=await j(this.model.name,"evaluate",{...W(this.model,e,!0),on_error:"row",operations:{"inverse-dynamics":{outputs:["tau","joint_wrenches"]},kinematics:{},...this.wanted}});this.closed||this.take(e,t,o)}catch(t){this.closed||this.fail(t)}this.busy=!1,this.stale&&this.refresh()}take(e,t,o){let r=t,i=t.errors??[],s=this.result.value,d=r["inverse-dynamics"]?.tau,l=r.kinematics?.poses,a=l&&Object.values(l)[0]?.position?C(this.geometry,l):s?.poses;if(this.problem.set(null),!a)return this.problem.set(new y(200,{detail:i[0]?.detail??"This state cannot be evaluated.",code:i[0]?.code}));let u=r["inverse-dynamics"]?.joint_wrenches;this.result.set({state:e,tau:d??[],poses:a,operations:r,errors:i,took:o,reactions:u?this.reactionsOf(u,a):[]})}fail(e){e instanceof y&&e.body.code==="no-such-model"?this.gone.set(!0):e instanceof y?this.problem.set(e):e instanceof k||this.problem.set(new y(0,{detail:String(e)}))}reactionsOf(e,t){let{bodies:o,origins:r}=this.geometry;return o.map((i,s)=>{let d=S(t,i),l=e[s];return{point:E(t,r[s]),force:g(d,[l[0],l[1],l[2]]),torque:g(d,[l[3],l[4],l[5]])}})}externalWrenches(e){return this.state.value.wrenches.flatMap(t=>{let o=this.geometry.index.get(t.link);if(o===void 0)return[];let r=S(e,o),i=t.frame==="link";return[{point:J(e,o,t.point),force:i?g(r,t.force):t.force,torque:i?g(r,t.torque):t.torque}]})}link(){let{model:e,state:{value:t}}=this,o=new URLSearchParams,r=i=>i.map(s=>String(Number(s.toPrecision(7)))).join(",");return o.set("q",r(t.q)),t.qd.some(Boolean)&&o.set("qd",r(t.qd)),t.qdd.some(Boolean)&&o.set("qdd",r(t.qdd)),t.gravity.some((i,s)=>i!==e.gravity[s])&&o.set("g",r(t.gravity)),t.friction||o.set("friction","no"),t.payload&&o.set("payload",JSON.stringify(t.payload)),t.wrenches.length&&o.set("wrenches",JSON.stringify(t.wrenches)),o.toString().replaceAll("%2C",",")}};function ie(n){let e=a=>{let h=n.get(a)?.split(",").map(Number);return h?.every(Number.isFinite)?h:void 0},t=(a,u)=>{try{let h=JSON.parse(n.get(a)??"null");return h&&u(h)?h:void 0}catch{return}},o=a=>Array.isArray(a)&&a.length===3&&a.every(Number.isFinite),r=e("q"),i=e("qd"),s=e("qdd"),d=e("g"),l=t("payload",a=>typeof a.link=="string"&&a.mass>=0&&o(a.com)),v=t("wrenches",a=>Array.isArray(a)&&a.every(u=>typeof u.link=="string"&&o(u.force)&&o(u.torque)&&o(u.point)&&(u.frame==="world"||u.frame==="link")));return{...r&&{q:r},...i&&{qd:i},...s&&{qdd:s},...d?.length===3&&{gravity:d},...n.get("friction")==="no"&&{friction:!1},...l&&{payload:l},...v&&{wrenches:v}}}var ue=new c(null),pe=[["curl","curl"],["python","Python"],["javascript","JavaScript"],["c","C"],["matlab","MATLAB"]],f="TORQUED_TOKEN",p=(n,e)=>q.value.token?n:e,m=n=>new URL(`${$(n.model)}/${n.operation}`,document.baseURI).href;function w(n,e){return`{
${Object.entries(n).map(([o,r])=>`${e}  ${JSON.stringify(o)}: ${JSON.stringify(r)}`).join(`,
`)}
${e}}`}function M(n){let e=w(n.body,"").replaceAll("'","'\\''"),t=p(`  -H "Authorization: Bearer $${f}" \\
`,"");return`curl -s '${m(n)}' \\
  -H 'Content-Type: application/json' \\
${t}  -d '${e}'
`}function R(n){return n===null?"None":n===!0?"True":n===!1?"False":Array.isArray(n)?`[${n.map(R).join(", ")}]`:typeof n=="object"?`{${Object.entries(n).map(([e,t])=>`${JSON.stringify(e)}: ${R(t)}`).join(", ")}}`:JSON.stringify(n)}function I(n){let e=Object.entries(n.body).map(([o,r])=>`    ${JSON.stringify(o)}: ${R(r)},`).join(`
`),t=p(`, "Authorization": "Bearer " + os.environ["${f}"]`,"");return`import json
${p(`import os
`,"")}import urllib.request

request = {
${e}
}
call = urllib.request.Request(
    ${JSON.stringify(m(n))},
    data=json.dumps(request).encode(), headers={"Content-Type": "application/json"${t}})
with urllib.request.urlopen(call) as answer:
    print(json.dumps(json.load(answer)))
`}function G(n){return`const request = ${w(n.body,"")};

fetch(${JSON.stringify(m(n))}, {
  method: 'POST',
  headers: {'Content-Type': 'application/json'${p(`, Authorization: \`Bearer \${process.env.${f}}\``,"")}},
  body: JSON.stringify(request),
}).then(answer => answer.json()).then(answer => console.log(JSON.stringify(answer)));
`}function V(n){let e=new TextEncoder;return n.split(`
`).map((t,o,r)=>`    "${[...e.encode(t)].map(s=>s===34?'\\"':s===92?"\\\\":s===63?"\\?":s<32||s>126?`\\${s.toString(8).padStart(3,"0")}`:String.fromCharCode(s)).join("")}${o<r.length-1?"\\n":""}"`).join(`
`)}function K(n){let e=new URL(m(n)),t=w(n.body,""),o=e.port||"80";return e.protocol==="https:"?Q(n,t):`/* cc -o ask ask.c && ./ask */
#define _POSIX_C_SOURCE 200809L
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char body[] =
${V(t)};

int main(void)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo("${e.hostname.replace(/^\[|\]$/g,"")}", "${o}", &hints, &found)) return 1;
    int server = socket(found->ai_family, found->ai_socktype, 0);
    if (server < 0 || connect(server, found->ai_addr, found->ai_addrlen)) { perror("connect"); return 1; }
    FILE *out = fdopen(dup(server), "w"), *in = fdopen(server, "r");
    fprintf(out, "POST ${e.pathname.replaceAll("%","%%")} HTTP/1.0\\r\\nHost: ${e.host}\\r\\n"
                 "${p("Authorization: Bearer %s\\r\\n","")}Content-Type: application/json\\r\\nContent-Length: %zu\\r\\n\\r\\n%s", ${p(`getenv("${f}"), `,"")}strlen(body), body);
    fflush(out);
    char line[65536];
    while (fgets(line, sizeof line, in) && strcmp(line, "\\r\\n") != 0) { }
    for (size_t n; (n = fread(line, 1, sizeof line, in)) > 0; ) fwrite(line, 1, n, stdout);
    putchar('\\n');
    return 0;
}
`}function Q(n,e){return`/* cc -o ask ask.c -lcurl && ./ask */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static const char body[] =
${V(e)};

int main(void)
{
    CURL              *call    = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
${p(`    char               token[1024];
    snprintf(token, sizeof token, "Authorization: Bearer %s", getenv("${f}"));
    curl_slist_append(headers, token);
`,"")}    curl_easy_setopt(call, CURLOPT_URL, ${JSON.stringify(m(n))});
    curl_easy_setopt(call, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(call, CURLOPT_POSTFIELDS, body);
    return curl_easy_perform(call) == CURLE_OK ? 0 : 1;
}
`}function X(n){let e=o=>`'${o.replaceAll("'","''")}'`;return`% The body is sent as text, so that one-element lists stay lists.
body = [ ...
    ${w(n.body,"").split(`
`).map(e).join(`, ...
    `)}];
options = weboptions('MediaType', 'application/json', 'Timeout', 60${p(`, 'HeaderFields', {'Authorization', ['Bearer ' getenv('${f}')]}`,"")});
answer = webwrite(${e(m(n))}, body, options)
`}function he(n,e){return({curl:M,python:I,javascript:G,c:K,matlab:X}[e]??M)(n)}var Y={curl:"sh",python:"py",javascript:"mjs",c:"c",matlab:"m"},fe=n=>Y[n]??"txt";var Z={poses:null,reactions:[],ellipsoids:[],com:null,follow:!1},ge=new c(Z);export{B as a,W as b,F as c,z as d,ie as e,ue as f,pe as g,he as h,fe as i,Z as j,ge as k};
