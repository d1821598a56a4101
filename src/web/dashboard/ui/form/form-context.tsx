import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Submission } from './use-submit.ts';

interface FormState {
  readonly submission: Submission | undefined;
  /** Values of the fields by name, for those that are given none. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly change: (changes: Readonly<Record<string, unknown>>) => void;
  /** Attribute of the API that a field stands for. */
  readonly attributeOf: (field: string) => string;
}

const FormContext = createContext<FormState>({
  submission: undefined,
  values: {},
  change: () => undefined,
  attributeOf: field => field,
});

/** Tells the fields inside what is submitted. */
export function SubmissionContext({
  submission,
  children,
}: {
  submission: Submission;
  children: ComponentChildren;
}) {
  const form = useContext(FormContext);
  return <FormContext.Provider value={{ ...form, submission }}>{children}</FormContext.Provider>;
}

/** Gives the fields inside their values. @param within the object of the API that has them, such as `clip` */
export function FieldValues<Values extends object>({
  values,
  onValues,
  within,
  children,
}: {
  values: Values;
  onValues: (values: Values, changes: Partial<Values>) => void;
  within?: string;
  children: ComponentChildren;
}) {
  const { submission } = useContext(FormContext);
  const state: FormState = {
    submission,
    values: values as Readonly<Record<string, unknown>>,
    change: changes => onValues({ ...values, ...changes }, changes as Partial<Values>),
    attributeOf: field => (within === undefined ? field : `${within}[${field}]`),
  };
  return <FormContext.Provider value={state}>{children}</FormContext.Provider>;
}

export function useSubmission(): Submission | undefined {
  return useContext(FormContext).submission;
}

/** Returns the error that the API has for a field. */
export function useFieldError(field: string | undefined): string | undefined {
  const { submission, attributeOf } = useContext(FormContext);
  return field === undefined ? undefined : submission?.errorOf(attributeOf(field));
}

export interface FieldValue<Value> {
  /** Name in the form, by which a field finds its error, and its value unless it is given one. */
  readonly field?: string | undefined;
  readonly value?: Value | undefined;
  readonly onValue?: ((value: Value) => void) | undefined;
}

/** Returns the value of a field and how to change it. @param empty while it has none */
export function useFieldValue<Value>(
  { field = '', value, onValue }: FieldValue<Value>,
  empty: Value,
): readonly [value: Value, onValue: (value: Value) => void] {
  const { values, change } = useContext(FormContext);
  return [
    value ?? (values[field] as Value | undefined) ?? empty,
    onValue ?? (next => change({ [field]: next })),
  ];
}
