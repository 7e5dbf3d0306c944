/** The sources in `assets/` of the one style sheet: the later one wins. */
export const styleSources = [
  'vendor/basecoat.css',
  'tokens.css',
  'frame.css',
  'bars.css',
  'marks.css',
  'parts.css',
  'rows.css',
  'cards.css',
  'dialogs.css',
  'palette.css',
  'forms.css',
  'deployment.css',
  'deployment-parts.css',
  'log.css',
  'log-rows.css',
  'log-processes.css',
  'log-colours.css',
  'terminal.css',
  'stats.css',
  'containers.css',
  'services.css',
  'domains.css',
  'clean-up.css',
  'home.css',
  'map.css',
  'api.css',
  'docs.css',
  'doc-text.css',
]

/** Joins the texts without comments, and without the blanks and zeros that say nothing. */
export const joinStyles = (texts: string[]) =>
  texts
    .join('\n')
    .replace(/\/\*(?!!)[^]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replaceAll(': ', ':')
    .replace(/ ([>+~]) (?=[^{};]*\{)/g, '$1') // in a selector
    .replace(/(?<=[ :,(])0(?=\.\d)/g, '')
    .replaceAll(';}', '}')
    .trim()
