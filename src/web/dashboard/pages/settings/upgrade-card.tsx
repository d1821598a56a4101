import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { loadSession } from '../../api/sessions.ts';
import { accountCommand } from '../../format/account-command.ts';
import { can, chooseEnvironment, environment, session } from '../../state/session.ts';
import { t } from '../../texts/server.ts';
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
      <Card title={t('upgrade.title')}>
        <p>{t('upgrade.text')}</p>
        <ul class="points">
          <li>{t('upgrade.noWatermark')}</li>
          <li>{t('upgrade.fullLength')}</li>
          <li>{t('upgrade.noTimeLimit')}</li>
          <li>{t('upgrade.analytics')}</li>
        </ul>
        <p class="quiet">{t('upgrade.notUndone')}</p>
        {!can('admin') ? (
          <p>{t('upgrade.askOwner')}</p>
        ) : account.isOperator ? (
          <>
            <ProblemNotice problem={submission.notice} />
            <div class="actions">
              <Button kind="primary" busy={submission.busy} onClick={() => submission.submit()}>
                {t('upgrade.button')}
              </Button>
            </div>
          </>
        ) : (
          <>
            <p>{t('upgrade.askOperator')}</p>
            <CopyField label={t('upgrade.command')} value={accountCommand(`upgrade ${email}`)} />
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
      title={t('upgrade.done')}
      action={
        environment.value === 'sandbox' ? (
          <Button small kind="primary" onClick={() => chooseEnvironment('production')}>
            {t('upgrade.switch')}
          </Button>
        ) : undefined
      }
    >
      {t('upgrade.doneText')}
    </Notice>
  );
}
