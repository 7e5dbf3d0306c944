import type { Part } from '../detection/apps.ts'
import { CopyButton } from '../web/copy.tsx'
import { counted } from '../web/units.ts'
import type { Detection } from './detection.tsx'
import { OtherFiles, serviceNames, StackView } from './stack-view.tsx'
import type { Project } from './store.ts'

type Props = { project: Project; found: Detection }

export const DetectionView = ({ project, found }: Props) => (
  <>
    <WhatIsBuilt {...{ project, found }} />
    <OtherFiles paths={found.composeFiles} />
    <Apps project={project} apps={found.workspaces.filter(({ kind }) => kind !== null)} />
  </>
)

/** Links to forms that are filled in: nothing changes before one is saved. */
const Apps = ({ project, apps }: { project: Project; apps: Part[] }) =>
  apps.length === 0 ? (
    <></>
  ) : (
    <>
      <p>This repository holds {counted(apps.length, 'app')}:</p>
      <ul>
        {apps.map(({ directory, kind, watchPaths }) => {
          const place = { context_dir: directory, watch_paths: watchPaths.join('\n') }
          const query = (more = {}) => new URLSearchParams({ ...more, ...place })
          return (
            <li>
              <code>{directory}</code> ({kind}){' '}
              {directory === project.contextDir.replace(/^(\.\/)+|\/+$/g, '') ? (
                'is this project'
              ) : (
                <>
                  <a href={`/projects/${project.id}/settings?${query()}#build`}>build this one</a>,
                  or{' '}
                  <a href={`/projects/new?${query({ like: project.id })}`}>
                    add it as another project
                  </a>
                </>
              )}
            </li>
          )
        })}
      </ul>
    </>
  )

const WhatIsBuilt = ({ project, found }: Props) => {
  const { kind, reasons, dockerfile, links, releaseCommand, problem } = found
  if (problem)
    return (
      <p>
        {problem.message} {problem.hint}
      </p>
    )
  if (kind === 'Compose') return <StackView found={found} />
  if (kind === 'Dockerfile')
    return <p>The repository has a Dockerfile, so these settings aren’t used.</p>
  return (
    <>
      <p>
        <strong>{kind}</strong>
      </p>
      <ul>
        {reasons.map((reason) => (
          <li>
            <bdi>{reason}</bdi>
          </li>
        ))}
        {links.map(({ template, reason }) => (
          <li>
            <bdi>{reason}</bdi> needs a service:{' '}
            <a href={`/services/${template}/configure`}>create {serviceNames[template]}</a>, then
            link it
          </li>
        ))}
        {releaseCommand !== null && (
          <li>
            Suggested release command, in the settings of the environment:{' '}
            <code>{releaseCommand}</code>
          </li>
        )}
      </ul>
      <details>
        <summary>Dockerfile</summary>
        <pre class="compose-file" tabindex={0}>
          {dockerfile}
        </pre>
        <p>
          <CopyButton text={dockerfile!} what="Dockerfile" />{' '}
          <a href={`/projects/${project.id}/detection?format=dockerfile`} download="Dockerfile">
            Download
          </a>
          . Add it to the repository to change it yourself.
        </p>
      </details>
    </>
  )
}
