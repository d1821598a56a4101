import { environment, project, projectKey } from '../../state/session.ts';
import { Page } from '../../ui/page.tsx';
import { PlaybackPolicyCard } from './playback-policy-card.tsx';
import { RetentionCard } from './retention-card.tsx';
import { VideoDefaultsCard } from './video-defaults-card.tsx';

export function SettingsPage() {
  return (
    <Page
      title="Settings"
      lead={`For the project ${project.value?.name ?? ''}, in ${environment.value === 'sandbox' ? 'the sandbox' : 'production'}.`}
    >
      <div class="columns" key={projectKey.value}>
        <div class="stack">
          <RetentionCard />
          <VideoDefaultsCard />
        </div>
        <PlaybackPolicyCard />
      </div>
    </Page>
  );
}
