/** The script of the page shows who calls, and for which project. */
const choices = `<label>Environment for calls <select id="caller-environment"></select></label>
<label id="caller-of-project" hidden>Project for calls <select id="caller-project"></select></label>`;

/** In the reference, readers may also enter a key. */
export const callerHtml = `<section class="caller" id="caller" data-server="{{server}}" aria-label="Credentials for calls" hidden>
<p id="caller-nobody">To try a call, <a href="{{base}}/dashboard" target="_blank" rel="noreferrer">sign in to the dashboard</a>, or enter an API key.</p>
<p id="caller-session" hidden>You're signed in as <strong id="caller-email"></strong>. Calls run as you and change your data.
${choices}</p>
<p id="caller-key" hidden>Calls use the key that you entered, and its environment. The page forgets it when you leave.</p>
<p><label>API key <input id="key" type="password" autocomplete="off" spellcheck="false"></label></p>
</section>`;

/** Guides show it to readers who are signed in. */
export const guideCallerHtml = `<section class="caller" id="caller" data-server="{{server}}" aria-label="Your data in examples" hidden>
<p id="caller-session" hidden>You're signed in as <strong id="caller-email"></strong>. Examples have your newest ids, and <strong>Run</strong> sends those that only read.
Keys are shown only when they are created: <a href="{{base}}/dashboard/keys" target="_blank" rel="noreferrer">create one</a> for <code>$KEY</code>.
${choices}</p>
</section>
`;
