import { afterAll } from 'vitest';
import { removeDatabases } from './test-database.ts';

afterAll(removeDatabases);
