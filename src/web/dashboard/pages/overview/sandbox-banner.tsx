import { chooseEnvironment, session } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';

/** Says where one is, and what is different there. */
export function SandboxBanner() {
  const hasProduction = session.value?.environments.includes('production') ?? false;
  return (
    <Notice
      tone="warning"
      title="This is the sandbox, for trying."
      action={
        hasProduction ? (
          <Button small onClick={() => chooseEnvironment('production')}>
            Switch to production
          </Button>
        ) : (
          <Button small href="/dashboard/account#upgrade">
            Upgrade
          </Button>
        )
      }
    >
      <p>
        Everything carries a watermark. Videos and recordings are cut after 30 seconds and deleted after 24
        hours, live streams end after 30 minutes, restreams after 2.
      </p>
    </Notice>
  );
}
