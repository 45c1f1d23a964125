"""The block of `template.yaml` that gives a source its function on AWS: function, role, logs and an alarm."""

from gofer.sources.receiver_spec import ReceiverSpec

_RESOURCES = """\
  {Name}Function:
    Type: AWS::Serverless::Function
    Metadata: {{BuildMethod: makefile}}
    Properties:
      FunctionName: !Sub gofer-${{Stage}}-{source}
      Description: Takes the webhooks of {system}.
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
      AlarmDescription: "The receiver of {system} failed instead of answering. See docs/runbook.md#ingress-errors."
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


def source_resources(spec: ReceiverSpec) -> str:
    """Return the function of a source with its role and its logs."""
    names = [_KEY, *(setting.name for setting in spec.receives_with)]
    parameters = "\n".join(f"{_PARAMETER}{name}" for name in names)
    return _filled(_RESOURCES, spec, parameters)


def source_template(spec: ReceiverSpec) -> str:
    """Return everything that a source needs below `Resources` of the template."""
    return f"{source_resources(spec)}\n{_filled(_ALARM, spec)}"


def _filled(text: str, spec: ReceiverSpec, parameters: str = "") -> str:
    return text.format(
        Name=spec.source.capitalize(),
        source=spec.source,
        system=spec.system,
        path=spec.path,
        parameters=parameters,
    )
