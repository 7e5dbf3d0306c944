import type { Child } from 'hono/jsx'
import { PageHead } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import type { OpenApiDocument } from './document.ts'

type Described = OpenApiDocument['paths'][string][string]

type ApiPageProps = {
  document: OpenApiDocument
  open: string | undefined
}

/** Lists all operations; details are loaded when a row is opened. */
export const ApiPage = ({ document, open }: ApiPageProps) => (
  <>
    <PageHead title="API" doc="api">
      <ButtonLink variant="outline" href="/api/openapi.json">
        OpenAPI document
      </ButtonLink>
    </PageHead>
    <p class="subtitle">
      Send <code>Accept: application/json</code> and an <a href="/settings/tokens">API token</a> as{' '}
      <code>Authorization: Bearer dvt_…</code>. A form takes the same names in snake_case.
    </p>
    {document.tags.map(({ name }) => (
      <Section name={name}>
        {callsOf(document)
          .filter(({ described }) => described.tags.includes(name))
          .map((call) => (
            <Row name={call.described.operationId} isOpen={open === call.described.operationId}>
              {{
                summary: (
                  <>
                    <span class="api-method">{call.method.toUpperCase()}</span>{' '}
                    <code>{call.path}</code>
                    <span class="muted">{call.described.summary}</span>
                  </>
                ),
                details: () => <CallDetails {...call.described} />,
              }}
            </Row>
          ))}
      </Section>
    ))}
    <Section name="Schemas">
      {Object.entries(document.components.schemas).map(([name, schema]) => (
        <Row name={name} isOpen={open === name}>
          {{ summary: <code>{name}</code>, details: () => <Json value={schema} /> }}
        </Row>
      ))}
    </Section>
  </>
)

export function ApiDetails({ document, open }: ApiPageProps) {
  const call = callsOf(document).find(({ described }) => described.operationId === open)
  if (call) return <CallDetails {...call.described} />
  const schema = document.components.schemas[open ?? '']
  return schema ? <Json value={schema} /> : null
}

const callsOf = ({ paths }: OpenApiDocument) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, described })),
  )

const Section = ({ name, children }: { name: string; children: Child }) => (
  <section class="api-tag" aria-labelledby={`api-${name}`}>
    <h2 id={`api-${name}`}>{name}</h2>
    {children}
  </section>
)

/** Loads its details when opened; without scripts, a link does. */
const Row = ({
  name,
  isOpen,
  children: { summary, details },
}: {
  name: string
  isOpen: boolean
  children: { summary: Child; details: () => Child }
}) => (
  <details
    class="api-operation"
    open={isOpen}
    hx-get={isOpen ? undefined : `/api?open=${name}`}
    hx-trigger={isOpen ? undefined : 'toggle once'}
    hx-target={isOpen ? undefined : 'find div'}
  >
    <summary>{summary}</summary>
    <div id={name} class="api-details">
      {isOpen ? details() : <a href={`/api?open=${name}#${name}`}>Details</a>}
    </div>
  </details>
)

const CallDetails = ({ description, parameters, requestBody, responses }: Described) => (
  <>
    <p class="muted">{description}</p>
    {Object.entries({ Parameters: parameters, Body: requestBody, Responses: responses })
      .filter(([, part]) => part && Object.keys(part).length > 0)
      .map(([name, part]) => (
        <>
          <h3>{name}</h3>
          <Json value={part} />
        </>
      ))}
  </>
)

const Json = ({ value }: { value: unknown }) => (
  <pre class="api-schema">
    {JSON.stringify(value, null, 2)
      .split(/(?<=")#\/components\/schemas\/(\w+)(?=")/)
      .map((text, at) => (at % 2 === 0 ? text : <a href={`#${text}`}>{text}</a>))}
  </pre>
)
