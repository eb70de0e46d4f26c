// main.tsx - the reference of the HTTP interface.
import {render} from 'preact';
import '../style.css';

render(<main class="page"><h1>Reference</h1><p>The contract is at <a href="openapi.json">openapi.json</a>.</p></main>, document.getElementById('app')!);
