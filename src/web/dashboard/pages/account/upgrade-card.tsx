import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { loadSession } from '../../api/sessions.ts';
import { chooseEnvironment, environment, session } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { ProblemNotice } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { useSubmit } from '../../ui/use-submit.ts';

/** The way to production: what it changes and, for whoever runs the server, the button. Nothing where it was gone before. */
export function UpgradeCard() {
  const { account, email } = session.value!;
  const [isJustDone, setJustDone] = useState(false);
  const submission = useSubmit(async () => {
    await call('POST /account/upgrade');
    // What is open stays open: nobody is moved to production without asking for it.
    chooseEnvironment(environment.peek());
    setJustDone(true);
    await loadSession();
  });
  if (account.upgraded) return isJustDone ? <Upgraded /> : null;
  return (
    <div id="upgrade" tabIndex={-1} class="upgrade">
      <Card title="Upgrade to production">
        <p>
          So far you have the sandbox, which is for trying. Production is a second, empty place of your own
          beside it:
        </p>
        <ul class="points">
          <li>No watermark on pictures, videos, live streams and restreams.</li>
          <li>Videos keep their full length, and stay until you delete them.</li>
          <li>Live streams and restreams go on for as long as you like, and are recorded as a whole.</li>
          <li>Analytics tell of more than the last 24 hours.</li>
        </ul>
        <p class="quiet">
          What you made in the sandbox stays there, under its rules. An upgrade is not undone here.
        </p>
        {account.isOperator ? (
          <>
            <ProblemNotice problem={submission.problem} />
            <div class="actions">
              <Button kind="primary" busy={submission.busy} onClick={() => submission.submit()}>
                Upgrade this account
              </Button>
            </div>
          </>
        ) : (
          <>
            <p>Whoever runs this server upgrades your account, with this command on the server:</p>
            <CopyField label="Command for the operator" value={`npm run account -- upgrade ${email}`} />
          </>
        )}
      </Card>
    </div>
  );
}

function Upgraded() {
  return (
    <Notice
      tone="good"
      title="Production is open."
      action={
        environment.value === 'sandbox' ? (
          <Button small kind="primary" onClick={() => chooseEnvironment('production')}>
            Switch to production
          </Button>
        ) : undefined
      }
    >
      You can switch between sandbox and production at the top of every page.
    </Notice>
  );
}
