import { afterAll } from 'vitest';
import { nameTempDirs, removeTempDirs } from './temp-dir.ts';

nameTempDirs();
afterAll(removeTempDirs);
