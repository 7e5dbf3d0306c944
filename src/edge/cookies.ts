import { davitKey } from './plan.ts'
import type { Site } from './plan.ts'

/** Davit's own. An app on a host below can set any cookie for all of them, so values have a length, too. */
const own = [
  'svc_(?:session|csrf|theme|visitor|browser|oauth)=[^;]{0,200}',
  'svc_next=[^;]{0,1000}[^;]{0,1000}',
].join('|')

/** What no header can have. */
const mark = '\u0001'

/** Each pair with a semicolon on either side, those that stay with a mark, and then those alone. */
const onlyOwn = {
  handler: 'headers',
  request: {
    replace: {
      Cookie: [
        { search_regexp: ' *; *', replace: ';;' },
        { search_regexp: `(^|;)((?:__Host-)?(?:${own}))(;|\\z)`, replace: `$1${mark}$2$3` },
        { search_regexp: `(^|;)[^;${mark}][^;]*(;|\\z)`, replace: '' },
        { search_regexp: `;*${mark}`, replace: '; ' },
        { search_regexp: '^;* *|;+\\z', replace: '' },
      ],
    },
  },
}

/** Before Davit itself: more cookies than it reads would otherwise close it for a browser. */
export const cookieHandlers = ({ target }: Pick<Site, 'target'>) =>
  'slots' in target && target.slots === davitKey ? [onlyOwn] : []
