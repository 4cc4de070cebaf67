import { t } from '../dom.js';

export default function Page() { return t.h1('Coming'); }
