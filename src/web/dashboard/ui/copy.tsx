import { useId, useState } from 'preact/hooks';
import { inSentence } from '../format/in-sentence.ts';
import { t } from '../texts/shell.ts';
import { Button, IconButton } from './button.tsx';
import { showToast } from './toast.tsx';

export async function copyText(text: string, name: string): Promise<void> {
  showToast(t((await writeClipboard(text)) ? 'copy.copied' : 'copy.failed', { name }));
}

export function CopyButton({ text, name }: { text: string; name: string }) {
  return (
    <Button
      small
      icon="copy"
      label={t('copy.named', { name: inSentence(name) })}
      onClick={() => void copyText(text, name)}
    >
      {t('copy.copy')}
    </Button>
  );
}

export function CopyField({
  label,
  value,
  secret = false,
  hint,
}: {
  label: string;
  value: string;
  secret?: boolean;
  hint?: string;
}) {
  const [isShown, setShown] = useState(!secret);
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="copy-row">
        <input
          id={id}
          class="mono"
          readOnly
          {...(isShown ? { type: 'text' } : { type: 'password' })}
          autocomplete="off"
          value={value}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          onFocus={event => event.currentTarget.select()}
        />
        {secret && (
          <IconButton
            icon={isShown ? 'eye-off' : 'eye'}
            label={t(isShown ? 'copy.hide' : 'copy.show', { name: inSentence(label) })}
            onClick={() => setShown(!isShown)}
          />
        )}
        <IconButton
          icon="copy"
          label={t('copy.named', { name: inSentence(label) })}
          onClick={() => void copyText(value, label)}
        />
      </div>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The page is not secure, or the browser refused.
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.setAttribute('readonly', '');
  field.className = 'for-readers';
  // A modal dialog makes everything outside unselectable.
  const place = document.querySelector('dialog[open]') ?? document.body;
  place.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  return isCopied;
}
