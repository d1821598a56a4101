import { t } from '../../texts/video.ts';
import { shortcuts } from './edit-keys.ts';

export function ShortcutList() {
  return (
    <details class="shortcuts">
      <summary>{t('captionKeys.title')}</summary>
      <dl>
        {shortcuts.map(([keys, action]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map(key => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{t(`captionKeys.actions.${action}`)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
