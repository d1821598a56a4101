import { can, session } from '../state/session.ts';
import { t } from '../texts/shell.ts';

/**
 * Adds to a text about a setting of the server which one it is, or for people who cannot change it, whom to ask.
 *
 * @param variable such as `MILLRACE_HOST`, or with a value
 */
export function withServerSetting(text: string, variable: string): string {
  const isOperator = can('admin') && session.value?.account.isOperator === true;
  return isOperator ? t('serverSetting.own', { text, variable }) : t('serverSetting.ask', { text });
}
