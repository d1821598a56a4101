import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { t } from '../../texts/live.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { MoreFields } from '../../ui/form/more-fields.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { SourceField } from './source-field.tsx';
import { bodyOf, MainStreamFields, MoreStreamFields, newStream } from './stream-fields.tsx';

export function CreateStreamDialog({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const [choices, setChoices] = useState(newStream);
  const [sourceUrl, setSourceUrl] = useState('');
  const url = sourceUrl.trim();
  const submission = useSubmit(async () => {
    const body = { ...bodyOf(choices), ...(url === '' ? {} : { source: { url } }) };
    const { liveStreamId } = await call('POST /live-streams', { body });
    route(`/dashboard/live/${liveStreamId}${url === '' ? '' : '?part=source'}`);
  });
  return (
    <FormDialog
      title={t('streams.new')}
      action={t('create.action')}
      disabled={choices.name.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      <MainStreamFields choices={choices} onChoices={setChoices} />
      <MoreFields>
        <SourceField
          label={t('create.sourceAddress')}
          value={sourceUrl}
          onValue={setSourceUrl}
          hint={t('create.sourceHint')}
        />
        <MoreStreamFields choices={choices} onChoices={setChoices} />
      </MoreFields>
    </FormDialog>
  );
}
