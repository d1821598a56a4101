import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { loadSession } from '../../api/sessions.ts';
import { accountCommand } from '../../format/account-command.ts';
import { can, chooseEnvironment, environment, session } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { ProblemNotice } from '../../ui/dialog/problem-notice.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';

export function UpgradeCard() {
  const { account, email } = session.value!;
  const [isJustDone, setJustDone] = useState(false);
  const submission = useSubmit(async () => {
    await call('POST /account/upgrade');
    // Stays in the sandbox until the user switches.
    chooseEnvironment(environment.peek());
    setJustDone(true);
    await loadSession();
  });
  if (account.upgraded) return isJustDone ? <Upgraded /> : null;
  return (
    <div id="upgrade" tabIndex={-1} class="upgrade">
      <Card title="Upgrade to production">
        <p>
          You’re in the sandbox, which is for tests. In production, a separate environment that starts empty:
        </p>
        <ul class="points">
          <li>No watermark on videos, thumbnails, live streams and restreams.</li>
          <li>Videos keep their full length and stay until you delete them.</li>
          <li>Live streams and restreams run for as long as you like and are recorded in full.</li>
          <li>Analytics cover more than the last 24 hours.</li>
        </ul>
        <p class="quiet">
          What you created in the sandbox stays there, with its limits. You can’t undo an upgrade here.
        </p>
        {!can('admin') ? (
          <p>Ask an owner of this account to upgrade it.</p>
        ) : account.isOperator ? (
          <>
            <ProblemNotice problem={submission.notice} />
            <div class="actions">
              <Button kind="primary" busy={submission.busy} onClick={() => submission.submit()}>
                Upgrade this account
              </Button>
            </div>
          </>
        ) : (
          <>
            <p>Ask the operator of this server to run this command on it:</p>
            <CopyField label="Command for the operator" value={accountCommand(`upgrade ${email}`)} />
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
      title="You can now use production"
      action={
        environment.value === 'sandbox' ? (
          <Button small kind="primary" onClick={() => chooseEnvironment('production')}>
            Switch to production
          </Button>
        ) : undefined
      }
    >
      Switch between sandbox and production at the top of every page.
    </Notice>
  );
}
