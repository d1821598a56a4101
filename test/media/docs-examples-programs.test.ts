import { describeExamples, exampleLanguages } from '../support/docs-examples.ts';

describeExamples(exampleLanguages.php);
describeExamples(exampleLanguages.go);
