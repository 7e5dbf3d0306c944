/** Texts that make a file called `marker` where a shell, git or a parser takes them for more than text. */
export const injectionsOf = (marker: string) => [
  `$(touch ${marker})`,
  `\`touch ${marker}\``,
  `;touch ${marker}`,
  `|touch ${marker}`,
  `&touch ${marker}`,
  `x && touch ${marker}`,
  `x\ntouch ${marker}`,
  `'; touch ${marker}; #`,
  `"$(touch ${marker})"`,
  `\${IFS}touch\${IFS}${marker}`,
  `> ${marker}`,
  `--upload-pack=touch ${marker};`,
  `-oProxyCommand=touch ${marker}`,
  'a\u0000b',
  '%0a%00',
  'a\u2028b',
]
