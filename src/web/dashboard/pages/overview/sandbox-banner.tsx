import { chooseEnvironment, session } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';

export function SandboxBanner() {
  const hasProduction = session.value?.environments.includes('production') ?? false;
  return (
    <Notice
      tone="warning"
      title="You’re in the sandbox"
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
        Videos and streams carry a watermark. Videos and recordings are cut after 30 seconds and deleted after
        24 hours, live streams end after 30 minutes, and restreams after 2 minutes.
      </p>
    </Notice>
  );
}
