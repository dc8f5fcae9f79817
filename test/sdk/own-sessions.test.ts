import { own } from './own.js';
import { limits } from './suite/limits.js';
import { resume } from './suite/resume.js';
import { sessions } from './suite/sessions.js';

limits(own);
resume(own);
sessions(own);
