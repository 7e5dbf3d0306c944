import type { Entry } from './catalogue.ts'
import type { About } from './compose/template.ts'

/** A template in the catalogue; all of it leads to its form. */
export const TemplateCard = ({ entry: { template, about } }: { entry: Entry }) => (
  <li class="template-card">
    <h3>
      <a class="row-link" href={`/services/${template}/configure`}>
        <bdi>{about.name}</bdi>
      </a>
    </h3>
    <p>{about.description}</p>
    <p class="row-facts">
      <span>{about.category}</span>
      <code>{about.version}</code>
    </p>
  </li>
)

/** Where the software itself is at home. */
export const TemplateLinks = ({ about: { links } }: { about: Pick<About, 'links'> }) => {
  const entries = Object.entries(links)
  if (entries.length === 0) return null
  return (
    <p class="template-links">
      {entries.map(([name, href]) => (
        <a href={href} rel="noreferrer" target="_blank">
          {words[name] ?? name}
          <span class="visually-hidden"> (opens in a new tab)</span>
        </a>
      ))}
    </p>
  )
}

const words: Record<string, string> = {
  website: 'Website',
  docs: 'Documentation',
  source: 'Source',
}
