import { useState } from 'preact/hooks';
import type { ProjectPlaybackPolicy } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { can, projectKey } from '../../state/session.ts';
import { t } from '../../texts/server.ts';
import { Form } from '../../ui/form/form.tsx';
import { FormActions } from '../../ui/form/form-actions.tsx';
import { describePolicy, PolicyFields, policyChoicesOf, policyOf } from '../../ui/form/policy-fields.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';

export function PlaybackPolicyCard() {
  const loaded = useLoad(projectKey.value, signal => call('GET /account/playback-policy', { signal }));
  return (
    <Section isSplit title={t('policy.title')} id="playback-policy" lead={t('policy.lead')}>
      <LoadedContent loaded={loaded} height={320}>
        {stored =>
          can('admin') ? (
            <PolicyForm stored={stored} onChange={loaded.set} />
          ) : (
            <p>
              {stored.playbackPolicy === null ? t('policy.everyone') : describePolicy(stored.playbackPolicy)}
            </p>
          )
        }
      </LoadedContent>
    </Section>
  );
}

function PolicyForm({
  stored,
  onChange,
}: {
  stored: ProjectPlaybackPolicy;
  onChange: (stored: ProjectPlaybackPolicy) => void;
}) {
  const before = policyChoicesOf(stored.playbackPolicy);
  const [choices, setChoices] = useState(before);
  const isReady = JSON.stringify(choices) !== JSON.stringify(before);
  const submission = useSubmit(async () => {
    const changed = await call('PATCH /account/playback-policy', {
      body: { playbackPolicy: policyOf(choices) },
    });
    onChange(changed);
    setChoices(policyChoicesOf(changed.playbackPolicy));
    showToast(t('policy.saved'));
  });
  return (
    <Form submission={submission} disabled={!isReady}>
      <PolicyFields choices={choices} onChoices={setChoices} />
      <FormActions action={t('policy.save')} disabled={!isReady} />
    </Form>
  );
}
