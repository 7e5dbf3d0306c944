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
      <section class="api-tag" aria-labelledby={`api-${name}`}>
        <h2 id={`api-${name}`}>{name}</h2>
        {Object.entries(document.paths).flatMap(([path, methods]) =>
          Object.entries(methods)
            .filter(([, { tags }]) => tags.includes(name))
            .map(([method, described]) => <OperationRow {...{ path, method, described }} />),
        )}
      </section>
    ))}
    <section class="api-tag" aria-labelledby="api-schemas">
      <h2 id="api-schemas">Schemas</h2>
      {Object.entries(document.components.schemas).map(([name, schema]) => (
        <details class="api-operation" id={name}>
          <summary>
            <code>{name}</code>
          </summary>
          <Json value={schema} />
        </details>
      ))}
    </section>
  </>
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
    <p>{description}</p>
    {parameters.length > 0 && <Part title="Parameters" value={parameters} />}
    {requestBody && <Part title="Body" value={requestBody.content['application/json'].schema} />}
    <Part title="Answers" value={responses} />
  </details>
)

const Part = ({ title, value }: { title: string; value: object }) => (
  <>
    <h3>{title}</h3>
    <Json value={value} />
  </>
)

/** References lead to their schema. */
const Json = ({ value }: { value: object }) => (
  <pre class="api-schema">
    {JSON.stringify(value, null, 2)
      .split(/(?<=")#\/components\/schemas\/(\w+)(?=")/)
      .map((text, at) => (at % 2 === 0 ? text : <a href={`#${text}`}>{text}</a>))}
  </pre>
)
