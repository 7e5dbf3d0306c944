/** Asked before a restore is cancelled, on each page that can do it. */
export const cancelRestore = {
  text: 'Cancel the restore? What it is replacing now may be left incomplete.',
  answer: 'Cancel restore',
}
