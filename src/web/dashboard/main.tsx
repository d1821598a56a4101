import { render } from 'preact';
import { followSession } from './api/follow-session.ts';
import { App } from './shell/app.tsx';
import { watchHistory } from './state/history-guard.ts';

watchHistory();
followSession();
render(<App />, document.getElementById('app')!);
