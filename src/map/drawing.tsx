import { Icon } from '../web/icons.tsx'
import { assetPath } from '../web/static.ts'
import type { Look } from '../web/status-badge.tsx'
import type { MapNode } from './graph.ts'
import { band, columns, layOut, shownProcesses } from './layout.ts'
import type { Box, Line } from './layout.ts'
import type { Part, Reach } from './part.ts'
import type { MapProcess } from './states.ts'
import { clipped, factsOf, fullName, isolated } from './text.ts'

/** Characters that fit into a box, by column. */
const room = {
  domain: { name: 29, facts: 36 },
  app: { name: 27, facts: 33 },
  service: { name: 26, facts: 32 },
}

/** Draws a map in which boxes are links, in reading order. */
export const Drawing = ({ part, reach }: { part: Part; reach: Reach | null }) => {
  const { bands, rest, lines, width, height } = layOut(part)
  const boxes = [...bands.flatMap((one) => one.boxes), ...rest]
  const keys = new Map(boxes.map(({ node }, at) => [node.id, at]))
  const marks = marksOf(reach)
  const drawn = (box: Box) => (
    <Node box={box} at={keys.get(box.node.id)!} mark={marks.get(box.node.id)} />
  )
  return (
    <div class="map-drawing" data-map>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label="Map"
        data-chosen={reach ? true : undefined}
      >
        {Object.entries(headings).map(([kind, heading]) => (
          <text class="map-column" x={columns[kind as MapNode['kind']].x} y="18" aria-hidden="true">
            {heading}
          </text>
        ))}
        {bands.map(({ y, height: tall }) => (
          <rect class="map-band" x={band.x} y={y} width={band.width} height={tall} rx="10" />
        ))}
        {lines.map((line) => (
          <path
            class="map-line"
            d={curve(line)}
            data-line={`${keys.get(line.from.node.id)} ${keys.get(line.to.node.id)}`}
            data-mark={markOfLine(line, marks)}
            stroke-width={weightOf(line.from.node)}
          />
        ))}
        {bands.map(({ group: { project }, y, boxes: own }) => (
          <>
            <a id={`map-of-${own[0]!.node.id}`} href={`/map?project=${project.id}`}>
              <title>{isolated(project.name)}</title>
              <text class="map-project" x={columns.domain.x} y={y + 22}>
                {isolated(clipped(project.name, 70))}
              </text>
            </a>
            {own.map(drawn)}
          </>
        ))}
        {rest.map(drawn)}
      </svg>
    </div>
  )
}

/** Highlights the dependents and dependencies of a node that is hovered or focused. */
export const MapScript = () => <script type="module" src={assetPath('map.js')} />

const headings = { domain: 'Addresses', app: 'Apps', service: 'Services' }

type Mark = 'chosen' | 'dependent' | 'needed'

const Node = ({ box, at, mark }: { box: Box; at: number; mark: Mark | undefined }) => {
  const { node, x, y, width, height } = box
  const { id, kind, name, look } = node
  const rows = shownProcesses(node)
  const whole = rows.map((process) => textOf(process, process.name))
  const label = [fullName(node), ...factsOf(node), ...whole].join(', ')
  return (
    <a
      class="map-node"
      id={`map-${id}`}
      href={`/map?focus=${id}`}
      aria-current={mark === 'chosen' ? 'true' : undefined}
      data-node={at}
      data-mark={mark}
    >
      <title>{label}</title>
      <rect {...{ x, y, width, height }} rx="8" />
      <State look={look} x={x + 12} y={y + 15} size={16} />
      <text class="map-name" x={x + 38} y={y + 20}>
        {isolated(clipped(name, room[kind].name))}
      </text>
      <text class="map-facts" x={x + 38} y={y + 37}>
        {clipped(drawnFacts(node), room[kind].facts)}
      </text>
      {rows.map((process, row) => (
        <g transform={`translate(${x + 38} ${y + 47 + row * 20})`}>
          <State look={process.look} x={0} y={0} size={13} />
          <text class="map-facts" x="20" y="11">
            {textOf(process, clipped(process.name, 18))}
          </text>
        </g>
      ))}
    </a>
  )
}

const textOf = ({ running, wanted }: MapProcess, name: string) =>
  `${isolated(name)} ${running} of ${wanted}`

/** Traffic is only drawn at the address that receives it. */
const drawnFacts = (node: MapNode) =>
  factsOf(node.kind === 'domain' ? node : { ...node, traffic: null }).join(', ')

type StateProps = { look: Look; x: number; y: number; size: number }

/** Sized by attributes, since styles don't apply to an icon inside a drawing. */
const State = ({ look: { icon, tone }, x, y, size }: StateProps) => (
  <svg
    class="map-state"
    data-tone={tone}
    {...{ x, y }}
    width={size}
    height={size}
    viewBox="0 0 24 24"
  >
    <Icon name={icon} />
  </svg>
)

const marksOf = (reach: Reach | null) =>
  new Map<string, Mark>(
    reach
      ? [
          ...reach.dependents.map(({ id }) => [id, 'dependent'] as const),
          ...reach.needs.map(({ id }) => [id, 'needed'] as const),
          [reach.node.id, 'chosen'] as const,
        ]
      : [],
  )

/** A line is marked like its end that is farther from the chosen node. */
function markOfLine({ from, to }: Line, marks: ReadonlyMap<string, Mark>) {
  const [user, used] = [marks.get(from.node.id), marks.get(to.node.id)]
  if (user === 'dependent' && (used === 'dependent' || used === 'chosen')) return 'dependent'
  return used === 'needed' && (user === 'needed' || user === 'chosen') ? 'needed' : undefined
}

/** Lines with much traffic are thicker. */
const weightOf = ({ traffic }: MapNode) =>
  traffic ? Math.min(5, 1.5 + Math.log10(1 + traffic.perMinute)).toFixed(1) : '1.5'

function curve({ from, to }: Line) {
  const [x1, y1] = [from.x + from.width, middle(from)]
  const [x2, y2] = [to.x, middle(to)]
  const bend = Math.min(90, (x2 - x1) / 2)
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
}

const middle = ({ y, height }: Box) => Math.round(y + height / 2)
