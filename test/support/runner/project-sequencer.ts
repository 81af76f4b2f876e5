import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take more than a quarter of a minute, the longest first: the last files of a run should be short. */
const LONG = [
  "test/docs/played-blocks.test.ts",
  "test/conformance/storage-s3.test.ts",
  "test/conformance/r2.test.ts",
  "test/browser/api-page.test.ts",
  "test/conformance/storage.test.ts",
  "test/conformance/storage-azure.test.ts",
  "test/runtimes/frameworks/frameworks.test.ts",
  "test/browser/link-visitors.test.ts",
  "test/browser/react-example.test.ts",
  "test/openapi/drift.test.ts",
  "test/browser/members.test.ts",
  "test/browser/accessibility.test.ts",
  "test/runtimes/wire/workerd-r2.test.ts",
  "test/runtimes/workers.test.ts",
  "test/browser/viewer.test.ts",
  "test/faults/disk/errno.test.ts",
  "test/runtimes/uploads/two-processes-s3.test.ts",
  "test/browser/file-manager.test.ts",
  "test/browser/resume.test.ts",
  "test/runtimes/packed-package.test.ts",
  "test/faults/s3-points.test.ts",
  "test/memory/large-archives.test.ts",
  "test/browser/links.test.ts",
  "test/browser/client.test.ts",
  "test/bridges/buckets.test.ts",
  "test/browser/uploads.test.ts",
  "test/browser/hostile-files.test.ts",
  "test/runtimes/wire/deno.test.ts",
  "test/browser/search.test.ts",
  "test/memory/pages.test.ts",
  "test/browser/keyboard.test.ts",
  "test/faults/s3-faults.test.ts",
  "test/cli/cli.test.ts",
  "test/archive/zip64.test.ts",
  "test/runtimes/wire/node.test.ts",
  "test/conformance/storage-gcs.test.ts",
  "test/docs/code-blocks.test.ts",
  "test/faults/crash-trials.test.ts",
  "test/faults/s3-joins.test.ts",
  "test/faults/accounts-errno.test.ts",
  "test/conformance/uploads-s3.test.ts",
  "test/spec/paths/traversal.test.ts",
  "test/browser/upload-panel.test.ts",
  "test/conformance/endpoint-cases.test.ts",
  "test/runtimes/uploads/two-processes-r2.test.ts",
  "test/runtimes/wire/workerd.test.ts",
  "test/runtimes/client-example.test.ts",
  "test/browser/versions.test.ts",
  "test/runtimes/wire/bun.test.ts",
  "test/faults/traced-errno.test.ts",
  "test/runtimes/wire/node-newest.test.ts",
  "test/load/connections.test.ts",
  "test/runtimes/node/min-throughput.test.ts",
  "test/docs/shown-blocks.test.ts",
  "test/conformance/uploads.test.ts",
  "test/runtimes/cluster.test.ts",
  "test/conformance/uploads-r2.test.ts",
  "test/faults/quota-processes.test.ts",
  "test/browser/journey.test.ts",
  "test/cli/reload.test.ts",
  "test/cli/doctor.test.ts",
];

/**
 * Runs the files of one project after those of another: a worker keeps its loaded modules while the next file is of the
 * same project. Files that wait for other programs come first, so that the run ends with short files.
 */
export class ProjectSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = ["installed", "faults", "local", "quick"];
    const toRank = ({ project, moduleId }: TestSpecification): number => {
      const place = LONG.findIndex((file) => moduleId.endsWith(`/${file}`));
      return projects.indexOf(project.name) * (LONG.length + 1) + (place === -1 ? LONG.length : place);
    };
    return sorted.sort((one, other) => toRank(one) - toRank(other));
  }
}
