import type { Child } from 'hono/jsx'
import { PageHead } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import type { OpenApiDocument } from './document.ts'

type Described = OpenApiDocument['paths'][string][string]

/** The API for people: every call with what it takes and answers. */
export const ApiPage = ({ document }: { document: OpenApiDocument }) => (
  <>
    <PageHead title="API">
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
        {Object.entries(document.paths).flatMap(([path, methods]) =>
          Object.entries(methods)
            .filter(([, { tags }]) => tags.includes(name))
            .map(([method, described]) => <OperationRow {...{ path, method, described }} />),
        )}
      </Section>
    ))}
    <Section name="Schemas">
      {Object.entries(document.components.schemas).map(([name, schema]) => (
        <details class="api-operation">
          <summary>
            <code>{name}</code>
          </summary>
          <Json value={schema} id={name} />
        </details>
      ))}
    </Section>
  </>
)

const Section = ({ name, children }: { name: string; children: Child }) => (
  <section class="api-tag" aria-labelledby={`api-${name}`}>
    <h2 id={`api-${name}`}>{name}</h2>
    {children}
  </section>
)

const OperationRow = ({
  path,
  method,
  described: { summary, description, parameters, requestBody, responses },
}: {
  path: string
  method: string
  described: Described
}) => (
  <details class="api-operation">
    <summary>
      <span class="api-method">{method.toUpperCase()}</span> <code>{path}</code>
      <span class="muted">{summary}</span>
    </summary>
    <p class="muted">{description}</p>
    {Object.entries({ Parameters: parameters, Body: requestBody, Answers: responses })
      .filter(([, part]) => part && Object.keys(part).length > 0)
      .map(([name, part]) => (
        <>
          <h3>{name}</h3>
          <Json value={part} />
        </>
      ))}
  </details>
)

/** References lead to their schema, which opens then. */
const Json = ({ value, id }: { value: unknown; id?: string }) => (
  <pre class="api-schema" id={id}>
    {JSON.stringify(value, null, 2)
      .split(/(?<=")#\/components\/schemas\/(\w+)(?=")/)
      .map((text, at) => (at % 2 === 0 ? text : <a href={`#${text}`}>{text}</a>))}
  </pre>
)
