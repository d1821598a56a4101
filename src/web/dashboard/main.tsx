import { render } from 'preact';
import { App } from './shell/app.tsx';
import { watchHistory } from './state/history-guard.ts';

watchHistory();
render(<App />, document.getElementById('app')!);
