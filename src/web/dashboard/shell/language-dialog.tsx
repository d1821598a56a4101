import { type Language, languages } from '../../i18n/languages.ts';
import { changeLanguage, chosenLanguage } from '../state/language.ts';
import { t } from '../texts/shell.ts';
import { Dialog } from '../ui/dialog/dialog.tsx';
import { RadioList } from '../ui/filter-popover.tsx';

/** Offers the languages of the dashboard, each by its own name. The choice applies at once. */
export function LanguageDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t('menu.language')} onClose={onClose}>
      <div class="dialog-body">
        <RadioList
          name="language"
          value={chosenLanguage.value}
          options={[
            [undefined, t('menu.automatic')],
            ...languages.map(language => [language, ownNameOf(language)] as const),
          ]}
          onValue={changeLanguage}
          onDone={onClose}
        />
      </div>
    </Dialog>
  );
}

function ownNameOf(language: Language): string {
  const name = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
  return name.slice(0, 1).toLocaleUpperCase(language) + name.slice(1);
}
