import { useState } from 'preact/hooks';
import { rich, t } from '../../texts/video.ts';
import { describePolicy, OwnPolicyFields, policyChoicesOf, policyOf } from '../../ui/form/policy-fields.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Section } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EditButton, EditForm, useReturnedFocus } from './edit-form.tsx';
import type { EditedVideo } from './use-video.ts';

/** Sites and countries that may play a video. */
export function PolicyCard(edited: EditedVideo) {
  const [isEditing, setEditing] = useState(false);
  const button = useReturnedFocus(isEditing);
  const { playbackPolicy } = edited.video;
  return (
    <Section
      title={t('policy.title')}
      actions={
        !isEditing && (
          <EditButton buttonRef={button} label={t('policy.edit')} onClick={() => setEditing(true)} />
        )
      }
    >
      {isEditing ? (
        <PolicyForm {...edited} onDone={() => setEditing(false)} />
      ) : playbackPolicy === undefined ? (
        <div>
          <p>{t('policy.default')}</p>
          <p class="hint">
            {rich(
              'policy.defaultHint',
              {},
              { a: text => <a href="/dashboard/settings#playback-policy">{text}</a> },
            )}
          </p>
        </div>
      ) : (
        <p>{describePolicy(playbackPolicy)}</p>
      )}
    </Section>
  );
}

function PolicyForm({ video, change, onDone }: EditedVideo & { onDone: () => void }) {
  const [stored] = useState(video.playbackPolicy && policyChoicesOf(video.playbackPolicy));
  const [policy, setPolicy] = useState(stored);
  const isChanged = JSON.stringify(policy) !== JSON.stringify(stored);
  const submission = useSubmit(async () => {
    if (isChanged) await change({ playbackPolicy: policy === undefined ? null : policyOf(policy) });
    showToast(t('policy.saved'));
    onDone();
  });
  return (
    <EditForm submission={submission} isChanged={isChanged} onClose={onDone}>
      <OwnPolicyFields own={policy} onOwn={setPolicy} />
    </EditForm>
  );
}
