"""The parts of `template.yaml` that a source needs on AWS: function, role, logs, alarm, permissions and URL."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gofer.sources.receiver_spec import ReceiverSpec
from gofer.values.errors import ConfigError

_RESOURCES = """\
  {Name}Function:
    Type: AWS::Serverless::Function
    Metadata: {{BuildMethod: makefile}}
    Properties:
      FunctionName: !Sub gofer-${{Stage}}-{source}
      Description: Receives the webhooks of {system}.
      Handler: handlers/{source}.handler
      Role: !GetAtt {Name}Role.Arn
      LoggingConfig: {{LogFormat: JSON, LogGroup: !Ref {Name}Logs}}
      Events:
        Webhook:
          Type: HttpApi
          Properties: {{ApiId: !Ref Api, Method: POST, Path: {path}}}

  {Name}Role:
    Type: AWS::IAM::Role
    Properties:
      PermissionsBoundary: !If [HasBoundary, !Ref PermissionsBoundary, !Ref AWS::NoValue]
      AssumeRolePolicyDocument:
        Version: "2012-10-17"
        Statement:
          - Effect: Allow
            Principal: {{Service: lambda.amazonaws.com}}
            Action: sts:AssumeRole
      ManagedPolicyArns: [!Ref AcceptPolicy]
      Policies:
        - PolicyName: own
          PolicyDocument:
            Version: "2012-10-17"
            Statement:
              - Sid: WriteLogs
                Effect: Allow
                Action: [logs:CreateLogStream, logs:PutLogEvents]
                Resource: !GetAtt {Name}Logs.Arn
              - Sid: ReadSettings
                Effect: Allow
                Action: [ssm:GetParameter, ssm:GetParameters]
                Resource:
{parameters}
      Tags:
        - {{Key: gofer, Value: !Ref Stage}}

  {Name}Logs:
    Type: AWS::Logs::LogGroup
    Properties:
      LogGroupName: !Sub /gofer/${{Stage}}/{source}
      RetentionInDays: !Ref LogRetentionDays
"""
_ALARM = """\
  {Name}ErrorsAlarm:
    Type: AWS::CloudWatch::Alarm
    Properties:
      AlarmName: !Sub gofer-${{Stage}}-ingress-errors-{source}
      AlarmDescription: "The receiver of {system} failed without an answer. See docs/runbook.md#ingress-errors."
      Namespace: AWS/Lambda
      MetricName: Errors
      Dimensions: [{{Name: FunctionName, Value: !Ref {Name}Function}}]
      Statistic: Sum
      Period: 300
      EvaluationPeriods: 1
      Threshold: 1
      ComparisonOperator: GreaterThanOrEqualToThreshold
      TreatMissingData: notBreaching
      AlarmActions: [!Ref AlarmTopic]
      OKActions: [!Ref AlarmTopic]
"""
_PARAMETER = (
    "                  - !Sub arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/gofer/${Stage}/"
)
_KEY = "INSTALLATION_KEY"


_LOG_GROUP = "              - !GetAtt {Name}Logs.Arn\n"
_OUTPUT = """\
  {Name}WebhookUrl:
    Description: URL for the webhook of {system}.
    Value: !Sub ${{UrlSetting.Value}}{path}
"""


_LOGICAL_ID = re.compile(r"^  (\w+):$", re.MULTILINE)
"""The line that names a resource or an output."""


@dataclass(frozen=True, slots=True)
class Part:
    """One text to insert into the template, and the place to insert it."""

    place: str
    """The name of the place, for error messages."""
    below: Sequence[str]
    """The beginnings of template lines, without indentation and in order. The text follows the last of them."""
    text: str

    def insert(self, template: str) -> str:
        """Return the template with this part. Raises ConfigError for a template without the place."""
        lines = template.splitlines(keepends=True)
        at = 0
        for beginning in self.below:
            found = (n for n, line in enumerate(lines[at:], at + 1) if line.lstrip().startswith(beginning))
            at = next(found, 0)
            if not at:
                raise ConfigError(f"template.yaml has no {self.place}; add this by hand:\n{self.text}")
        return "".join([*lines[:at], self.text, *lines[at:]])


def logical_name(source: str) -> str:
    """Return the prefix of a source's logical ids, which may hold letters and digits only."""
    return "".join(word.capitalize() for word in source.split("_"))


def source_resources(spec: ReceiverSpec) -> str:
    """Return the text of the function of a source, with its role and its log group."""
    names = [_KEY, *(setting.name for setting in spec.receives_with)]
    return _filled(_RESOURCES, spec, "\n".join(f"{_PARAMETER}{name}" for name in names))


def source_parts(spec: ReceiverSpec) -> Sequence[Part]:
    """Return all parts that a source needs in the template."""
    resources = f"{source_resources(spec)}\n{_filled(_ALARM, spec)}\n"
    settings = "".join(f"{_PARAMETER}{setting.name}\n" for setting in spec.acts_with)
    return [
        Part("Resources", ["Resources:"], resources),
        Part("ReadSettings of WorkerRole", ["WorkerRole:", "- Sid: ReadSettings", "Resource:"], settings),
        Part(
            "ReadLogs of OperatorPolicy", ["OperatorPolicy:", "- Sid: ReadLogs", "Resource:"], _filled(_LOG_GROUP, spec)
        ),
        Part("Outputs", ["Outputs:"], _filled(_OUTPUT, spec)),
    ]


def source_template(spec: ReceiverSpec) -> str:
    """Return the text of all parts that a source needs, each below a comment that names its place."""
    return "\n".join(f"# Below {part.place}:\n{part.text}" for part in source_parts(spec))


def add_source(spec: ReceiverSpec, template: str) -> str:
    """Return the template with all parts of a source. Raises ConfigError if it has some of them already."""
    parts = source_parts(spec)
    ids = [logical_id for part in parts for logical_id in _LOGICAL_ID.findall(part.text)]
    present = [logical_id for logical_id in ids if f"\n  {logical_id}:\n" in template]
    if present:
        raise ConfigError(
            f"template.yaml has parts of {spec.system} already: {', '.join(present)}. To write them again, first "
            f"remove every part of {spec.system}, including its settings and its log group."
        )
    for part in parts:
        template = part.insert(template)
    return template


def _filled(text: str, spec: ReceiverSpec, parameters: str = "") -> str:
    return text.format(
        Name=logical_name(spec.source),
        source=spec.source,
        system=spec.system,
        path=spec.path,
        parameters=parameters,
    )
