import { davitKey } from './plan.ts'
import type { Site } from './plan.ts'

/** Davit's own cookies. An app on a subdomain can set any cookie for all of them, so values are limited. */
const own = [
  'svc_(?:session|csrf|theme|visitor|browser|oauth)=[^;]{0,200}',
  'svc_next=[^;]{0,1000}[^;]{0,1000}',
].join('|')

/** No header can contain this character. */
const mark = '\u0001'

/** Puts a semicolon on either side of each pair, marks those to keep, and removes the others. */
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

/** Placed before Davit itself: with more cookies than it reads, a browser couldn't use it any more. */
export const cookieHandlers = ({ target }: Pick<Site, 'target'>) =>
  'slots' in target && target.slots === davitKey ? [onlyOwn] : []
