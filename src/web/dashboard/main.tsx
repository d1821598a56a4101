import { render } from 'preact';

render(<h1>Millrace</h1>, document.getElementById('app')!);
