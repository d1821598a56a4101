import { useState } from 'preact/hooks';
import type { Player } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { localUrl } from '../../format/local-url.ts';
import { t } from '../../texts/players.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { Field, TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Section } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';

export function LogoCard({
  player,
  src,
  onChanged,
}: {
  player: Player;
  src: string | undefined;
  onChanged: () => void;
}) {
  const [dialog, setDialog] = useState<'change' | 'remove'>();
  const close = () => setDialog(undefined);
  const { link } = player.assets;
  return (
    <Section title={t('logo.title')}>
      {src === undefined ? (
        <p class="quiet">{t('logo.none')}</p>
      ) : (
        <div class="logo-shown">
          <img src={src} alt={t('logo.alt')} />
          <p class="quiet">
            {link === null || link === '' ? t('logo.noLink') : t('logo.linksTo', { url: link })}
          </p>
        </div>
      )}
      <div class="actions">
        <Button small icon="image" onClick={() => setDialog('change')}>
          {src === undefined ? t('logo.add') : t('logo.change')}
        </Button>
        {src !== undefined && (
          <Button small icon="trash" onClick={() => setDialog('remove')}>
            {t('logo.remove')}
          </Button>
        )}
      </div>
      {dialog === 'change' && <LogoDialog player={player} onChanged={onChanged} onClose={close} />}
      {dialog === 'remove' && (
        <ConfirmDialog
          title={t('logo.removeTitle')}
          action={t('logo.removeAction')}
          work={async () => {
            await call('DELETE /players/{playerId}/logo', { params: { playerId: player.playerId } });
            showToast(t('logo.removed'));
            onChanged();
          }}
          onClose={close}
        >
          <p>{t('logo.removeText')}</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

function LogoDialog({
  player,
  onChanged,
  onClose,
}: {
  player: Player;
  onChanged: () => void;
  onClose: () => void;
}) {
  const { playerId, assets } = player;
  const [file, setFile] = useState<File>();
  const [link, setLink] = useState(assets.link ?? '');
  const submission = useSubmit(async () => {
    const body = new FormData();
    body.append('link', link.trim());
    const image = file ?? (await presentLogo(assets.logo));
    body.append('file', image, file?.name ?? `logo${assets.logo?.match(/\.\w+$/)?.[0] ?? '.png'}`);
    await call('POST /players/{playerId}/logo', { params: { playerId }, body });
    showToast(t('logo.saved'));
    onChanged();
    onClose();
  });
  return (
    <FormDialog
      title={assets.logo === null ? t('logo.add') : t('logo.changeTitle')}
      action={t('logo.save')}
      disabled={file === undefined && assets.logo === null}
      submission={submission}
      onClose={onClose}
    >
      <Field
        label={t('logo.image')}
        hint={assets.logo === null ? t('logo.imageHint') : t('logo.imageHintKeep')}
      >
        {attributes => (
          <input
            {...attributes}
            type="file"
            accept="image/png,image/jpeg"
            onChange={event => setFile(event.currentTarget.files?.[0])}
          />
        )}
      </Field>
      <TextField
        label={t('logo.link')}
        type="url"
        placeholder="https://"
        hint={t('logo.linkHint')}
        value={link}
        onValue={setLink}
        field="link"
      />
    </FormDialog>
  );
}

/** The API takes link and image together: downloads the present image to send it again. */
async function presentLogo(address: string | null): Promise<Blob> {
  const answer = address === null ? undefined : await fetch(localUrl(address), { cache: 'no-store' });
  if (answer?.ok !== true) throw new ApiProblem(0, { title: t('logo.unreadable') });
  return answer.blob();
}
